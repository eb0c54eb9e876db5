#!/usr/bin/env bash
# Packages: pydantic 2.14.4, jsonschema 4.26.0 (Python 3.11)
# A good guess: a judge's score of the type Literal[0, 1] refuses the JSON value true, as the JSON schema that
# pydantic itself writes for the type does.
# What happens: pydantic reads true as the score 1 and false as 0, also in strict mode; the schema of the same
# type refuses both. So the server that enforces the schema and the client that reads the answer disagree.
# Output seen on 2026-11-28:
#   1: schema takes, pydantic 1
#   true: schema refuses, pydantic 1
#   false: schema refuses, pydantic 0
#   1.0: schema takes, pydantic 1
#   "1": schema refuses, pydantic refused

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pydantic==2.14.4 jsonschema==4.26.0

cat > program.py <<'PY'
from typing import Literal

from jsonschema import Draft202012Validator
from pydantic import BaseModel


class Verdict(BaseModel):
    score: Literal[0, 1]


validator = Draft202012Validator(Verdict.model_json_schema())
for value, text in ((1, "1"), (True, "true"), (False, "false"), (1.0, "1.0"), ("1", '"1"')):
    by_schema = "takes" if validator.is_valid({"score": value}) else "refuses"
    try:
        read = repr(Verdict.model_validate_json('{"score": %s}' % text, strict=True).score)
    except ValueError:
        read = "refused"
    print(f"{text}: schema {by_schema}, pydantic {read}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
1: schema takes, pydantic 1
true: schema refuses, pydantic 1
false: schema refuses, pydantic 0
1.0: schema takes, pydantic 1
"1": schema refuses, pydantic refused
END
)
[ "$seen" = "$expected" ]
