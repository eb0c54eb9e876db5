#!/usr/bin/env bash
# Packages: inspect-ai 0.3.285 (Python 3.11)
# A good guess: a judge whose verdict model_graded_qa cannot read counts as incorrect, or the evaluation has
# an error: of two good answers and two whose verdicts are unread, the accuracy is 0.5.
# What happens: the unread ones are nan and the accuracy is that of the others, 1.0, with status success. A
# grade in bold letters is not read: "GRADE: **I**" is left out, while "**GRADE: I**" is an I. So a judge that
# prints only its bad grades in bold gives a perfect score; unscored_samples of the score tells.
# Output seen on 2026-11-29:
#   ['GRADE: I', 'GRADE: I']: success, ['C', 'C', 'I', 'I'], accuracy 0.5, unscored 0
#   ['**GRADE: I**', '**GRADE: I**']: success, ['C', 'C', 'I', 'I'], accuracy 0.5, unscored 0
#   ['GRADE: **I**', 'GRADE: **I**']: success, ['C', 'C', nan, nan], accuracy 1.0, unscored 2
#   ['Incorrect', 'I cannot tell']: success, ['C', 'C', nan, nan], accuracy 1.0, unscored 2

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check inspect-ai==0.3.285

cat > program.py <<'PY'
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import model_graded_qa


def says(*texts):
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs, memoize=False)


for bad in (["GRADE: I", "GRADE: I"], ["**GRADE: I**", "**GRADE: I**"], ["GRADE: **I**", "GRADE: **I**"], ["Incorrect", "I cannot tell"]):
    samples = [Sample(input="Which tea?", target="green") for _ in range(4)]
    task = Task(dataset=samples, scorer=model_graded_qa(model=says("GRADE: C", "GRADE: C", *bad)))
    log = eval(task, model=says(*["An answer."] * 4), display="none", log_dir="logs", max_samples=1)[0]
    score = log.results.scores[0]
    values = [sample.scores["model_graded_qa"].value for sample in log.samples]
    print(f"{bad}: {log.status}, {values}, accuracy {score.metrics['accuracy'].value}, unscored {score.unscored_samples}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
['GRADE: I', 'GRADE: I']: success, ['C', 'C', 'I', 'I'], accuracy 0.5, unscored 0
['**GRADE: I**', '**GRADE: I**']: success, ['C', 'C', 'I', 'I'], accuracy 0.5, unscored 0
['GRADE: **I**', 'GRADE: **I**']: success, ['C', 'C', nan, nan], accuracy 1.0, unscored 2
['Incorrect', 'I cannot tell']: success, ['C', 'C', nan, nan], accuracy 1.0, unscored 2
END
)
[ "$seen" = "$expected" ]
