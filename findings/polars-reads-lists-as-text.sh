#!/usr/bin/env bash
# Packages: polars 2.1.0 (Python 3.11)
# A good guess: read_ndjson refuses a field that is text in one row and a list in another (a profile with
# "tea" here and ["tea", "milk"] there), or gives a type for both.
# What happens: the list is turned into its JSON text without a word, so that row["drinks"] is one text for
# each user, and a loop over it gives letters and brackets. The type of the column is String.
# Output seen on 2026-11-28:
#   String
#   'tea' 3
#   '["tea", "milk"]' 15
#   '[]' 2

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check polars==2.1.0

cat > program.py <<'PY'
import json

import polars

with open("profiles.jsonl", "w") as file:
    for drinks in ("tea", ["tea", "milk"], []):
        file.write(json.dumps({"drinks": drinks}) + "\n")
rows = polars.read_ndjson("profiles.jsonl")
print(rows.schema["drinks"])
for (drinks,) in rows.rows():
    print(repr(drinks), len(drinks))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
String
'tea' 3
'["tea", "milk"]' 15
'[]' 2
END
)
[ "$seen" = "$expected" ]
