#!/usr/bin/env bash
# Packages: langchain-core 1.8.3 (Python 3.11)
# A good guess: JsonOutputParser and PydanticOutputParser refuse a judge's answer that stopped inside the JSON
# (max_tokens), as json.loads does; the half JSON is only for streams, where one asks for partial=True.
# What happens: both close what is open and read on. An answer cut between the digits of 10 is the score 1, a
# reason cut in its middle is a whole reason, and nothing tells either from a full answer. A field that is not
# there at all is the only sign, and only pydantic sees it.
# Output seen on 2026-11-29:
#   {"reason": "It asks again.", "score": 10}
#     json: {'reason': 'It asks again.', 'score': 10}
#     JsonOutputParser: {'reason': 'It asks again.', 'score': 10}
#     PydanticOutputParser: reason='It asks again.' score=10
#   {"reason": "It asks again.", "score": 1
#     json: refused
#     JsonOutputParser: {'reason': 'It asks again.', 'score': 1}
#     PydanticOutputParser: reason='It asks again.' score=1
#   {"reason": "It asks again.", "sc
#     json: refused
#     JsonOutputParser: {'reason': 'It asks again.'}
#     PydanticOutputParser: refused
#   {"score": 2, "reason": "It does not
#     json: refused
#     JsonOutputParser: {'score': 2, 'reason': 'It does not'}
#     PydanticOutputParser: reason='It does not' score=2

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check langchain-core==1.8.3

cat > program.py <<'PY'
import json

from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from pydantic import BaseModel


class Verdict(BaseModel):
    reason: str
    score: int


parsers = {"json": json.loads, "JsonOutputParser": JsonOutputParser().parse, "PydanticOutputParser": PydanticOutputParser(pydantic_object=Verdict).parse}
for text in (
    '{"reason": "It asks again.", "score": 10}',
    '{"reason": "It asks again.", "score": 1',
    '{"reason": "It asks again.", "sc',
    '{"score": 2, "reason": "It does not',
):
    print(text)
    for name, parse in parsers.items():
        try:
            print(f"  {name}: {parse(text)}")
        except ValueError:
            print(f"  {name}: refused")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
{"reason": "It asks again.", "score": 10}
  json: {'reason': 'It asks again.', 'score': 10}
  JsonOutputParser: {'reason': 'It asks again.', 'score': 10}
  PydanticOutputParser: reason='It asks again.' score=10
{"reason": "It asks again.", "score": 1
  json: refused
  JsonOutputParser: {'reason': 'It asks again.', 'score': 1}
  PydanticOutputParser: reason='It asks again.' score=1
{"reason": "It asks again.", "sc
  json: refused
  JsonOutputParser: {'reason': 'It asks again.'}
  PydanticOutputParser: refused
{"score": 2, "reason": "It does not
  json: refused
  JsonOutputParser: {'score': 2, 'reason': 'It does not'}
  PydanticOutputParser: reason='It does not' score=2
END
)
[ "$seen" = "$expected" ]
