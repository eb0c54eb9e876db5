#!/usr/bin/env bash
# Packages: litellm 1.108.7 (Python 3.11)
# A good guess: completion(mock_response=...) counts the tokens of the messages and of the mocked text, as the
# library's own token_counter does.
# What happens: each mocked answer has 10 tokens in and 20 out, whatever was asked and answered, and
# completion_cost prices these. A test of a budget or of an estimate under the mock sees every dialogue cost
# the same.
# Output seen on 2026-11-29:
#   1 words: 10 in, 20 out, 0.000225 dollars; token_counter counts more than 1: True
#   1000 words: 10 in, 20 out, 0.000225 dollars; token_counter counts more than 1000: True

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check litellm==1.108.7

cat > program.py <<'PY'
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
from litellm import completion, completion_cost, token_counter

for words in (1, 1000):
    messages = [{"role": "user", "content": "word " * words}]
    answer = completion(model="gpt-4o", messages=messages, mock_response="yes " * words)
    usage = answer.usage
    counted = token_counter(model="gpt-4o", messages=messages) > words
    print(
        f"{words} words: {usage.prompt_tokens} in, {usage.completion_tokens} out,"
        f" {completion_cost(answer):.6f} dollars; token_counter counts more than {words}: {counted}"
    )
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
1 words: 10 in, 20 out, 0.000225 dollars; token_counter counts more than 1: True
1000 words: 10 in, 20 out, 0.000225 dollars; token_counter counts more than 1000: True
END
)
[ "$seen" = "$expected" ]
