#!/usr/bin/env bash
# Packages: datasets 5.2.0 (Python 3.11)
# A good guess: JSON has no dates, so load_dataset("json") keeps "2026-01-05" as text, and to_json writes the
# file as it was read.
# What happens: if each value of a field looks like a date, the field becomes a timestamp, and to_json writes
# milliseconds. A time of day stays text, and one value such as "soon" keeps the whole field as text: whether
# dates survive depends on the other rows.
# Output seen on 2026-11-28:
#   dates timestamp[s] {"day":1767571200000,"at":"19:30:00"}
#   mixed string {"day":"2026-01-05","at":"19:30:00"}

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check datasets==5.2.0

cat > program.py <<'PY'
import json

import datasets

datasets.disable_progress_bars()
for name, days in (("dates", ["2026-01-05", "2026-01-06"]), ("mixed", ["2026-01-05", "soon"])):
    with open(f"{name}.jsonl", "w") as file:
        for day in days:
            file.write(json.dumps({"day": day, "at": "19:30:00"}) + "\n")
    rows = datasets.load_dataset("json", data_files=f"{name}.jsonl", split="train", cache_dir="cache")
    rows.to_json(f"{name}-again.jsonl")
    with open(f"{name}-again.jsonl") as file:
        print(name, rows.features["day"].dtype, file.readline().strip())
PY

seen=$(HF_HOME="$folder" venv/bin/python -W ignore program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
dates timestamp[s] {"day":1767571200000,"at":"19:30:00"}
mixed string {"day":"2026-01-05","at":"19:30:00"}
END
)
[ "$seen" = "$expected" ]
