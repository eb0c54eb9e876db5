#!/usr/bin/env bash
# Packages: llama-index-core 0.14.25 (Python 3.11)
# A good guess: the evaluators of faithfulness and relevancy read YES or NO as the verdict of the model, or
# say that there is none.
# What happens: a verdict passes if the letters 'yes' stand anywhere in it: 'NO. Nothing was booked
# yesterday.' has the score 1.0, and is never invalid. A judge that gives its reasons, as it is told to
# elsewhere, passes wrong replies by the words it chooses.
# Output seen on 2026-11-29:
#   FaithfulnessEvaluator, 'YES': passing True, score 1.0
#   RelevancyEvaluator, 'YES': passing True, score 1.0
#   FaithfulnessEvaluator, 'NO': passing False, score 0.0
#   RelevancyEvaluator, 'NO': passing False, score 0.0
#   FaithfulnessEvaluator, 'NO. Nothing was booked.': passing False, score 0.0
#   RelevancyEvaluator, 'NO. Nothing was booked.': passing False, score 0.0
#   FaithfulnessEvaluator, 'NO. Nothing was booked yesterday.': passing True, score 1.0
#   RelevancyEvaluator, 'NO. Nothing was booked yesterday.': passing True, score 1.0

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check llama-index-core==0.14.25

cat > program.py <<'PY'
from typing import Any

from llama_index.core.evaluation import FaithfulnessEvaluator, RelevancyEvaluator
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata


class Judge(CustomLLM):
    verdict: str

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, **more: Any) -> CompletionResponse:
        return CompletionResponse(text=self.verdict)

    def stream_complete(self, prompt: str, **more: Any) -> Any:
        yield self.complete(prompt)


asked = {"query": "Is my table booked?", "response": "It is booked.", "contexts": ["A table is free."]}
for verdict in ("YES", "NO", "NO. Nothing was booked.", "NO. Nothing was booked yesterday."):
    for kind in (FaithfulnessEvaluator, RelevancyEvaluator):
        result = kind(llm=Judge(verdict=verdict)).evaluate(**asked)
        print(f"{kind.__name__}, {verdict!r}: passing {result.passing}, score {result.score}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
FaithfulnessEvaluator, 'YES': passing True, score 1.0
RelevancyEvaluator, 'YES': passing True, score 1.0
FaithfulnessEvaluator, 'NO': passing False, score 0.0
RelevancyEvaluator, 'NO': passing False, score 0.0
FaithfulnessEvaluator, 'NO. Nothing was booked.': passing False, score 0.0
RelevancyEvaluator, 'NO. Nothing was booked.': passing False, score 0.0
FaithfulnessEvaluator, 'NO. Nothing was booked yesterday.': passing True, score 1.0
RelevancyEvaluator, 'NO. Nothing was booked yesterday.': passing True, score 1.0
END
)
[ "$seen" = "$expected" ]
