#!/usr/bin/env bash
# Packages: json-repair 0.64.4 (Python 3.11)
# A good guess: json_repair.loads mends brackets, quotes and commas of a judge's answer; where the value itself
# is no number ("3 or 4", "~4", "4%"), it stays text or is refused, and of two objects the first or both count.
# What happens: the value becomes the number that it begins with, or has behind a sign, without a word: a judge
# that could not decide has decided. "3-4" stays text. Of two objects of one shape only the last is returned,
# also with words between them; where a value is of another type, both are, as a list.
# Output seen on 2026-11-29:
#   {"score": 3 or 4} -> {'score': 3}
#   {"score": ~4} -> {'score': 4}
#   {"score": 4%} -> {'score': 4}
#   {"score": 3-4} -> {'score': '3-4'}
#   {"score": 4} No: {"score": 1} -> {'score': 1}
#   {"score": 4} {"score": "1"} -> [{'score': 4}, {'score': '1'}]

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check json-repair==0.64.4

cat > program.py <<'PY'
import json_repair

for answer in (
    '{"score": 3 or 4}',
    '{"score": ~4}',
    '{"score": 4%}',
    '{"score": 3-4}',
    '{"score": 4} No: {"score": 1}',
    '{"score": 4} {"score": "1"}',
):
    print(answer, "->", json_repair.loads(answer))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
{"score": 3 or 4} -> {'score': 3}
{"score": ~4} -> {'score': 4}
{"score": 4%} -> {'score': 4}
{"score": 3-4} -> {'score': '3-4'}
{"score": 4} No: {"score": 1} -> {'score': 1}
{"score": 4} {"score": "1"} -> [{'score': 4}, {'score': '1'}]
END
)
[ "$seen" = "$expected" ]
