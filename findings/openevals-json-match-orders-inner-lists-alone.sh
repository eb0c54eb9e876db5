#!/usr/bin/env bash
# Packages: openevals 0.2.2 (Python 3.11)
# A good guess: json_match compares lists in one way, wherever they stand, and tells true from 1.
# What happens: a list at the top is matched in any order, a list within an object item by item, and true
# equals 1 while '2' does not equal 2. So the same bookings pass as a list and fail as a field of an object.
# Output seen on 2026-11-29:
#   [{'day': 'Friday'}, {'day': 'Sunday'}] for [{'day': 'Sunday'}, {'day': 'Friday'}]: 1
#   {'nights': [{'day': 'Friday'}, {'day': 'Sunday'}]} for {'nights': [{'day': 'Sunday'}, {'day': 'Friday'}]}: 0
#   {'paid': True} for {'paid': 1}: 1
#   {'guests': '2'} for {'guests': 2}: 0

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check openevals==0.2.2

cat > program.py <<'PY'
from openevals.json import create_json_match_evaluator

match = create_json_match_evaluator(aggregator="all")
first, last = {"day": "Friday"}, {"day": "Sunday"}
for output, reference in (
    ([first, last], [last, first]),
    ({"nights": [first, last]}, {"nights": [last, first]}),
    ({"paid": True}, {"paid": 1}),
    ({"guests": "2"}, {"guests": 2}),
):
    result = match(outputs=output, reference_outputs=reference)
    score = (result[0] if isinstance(result, list) else result)["score"]
    print(f"{output} for {reference}: {score}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
[{'day': 'Friday'}, {'day': 'Sunday'}] for [{'day': 'Sunday'}, {'day': 'Friday'}]: 1
{'nights': [{'day': 'Friday'}, {'day': 'Sunday'}]} for {'nights': [{'day': 'Sunday'}, {'day': 'Friday'}]}: 0
{'paid': True} for {'paid': 1}: 1
{'guests': '2'} for {'guests': 2}: 0
END
)
[ "$seen" = "$expected" ]
