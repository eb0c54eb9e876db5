#!/usr/bin/env bash
# Packages: quantulum3 0.10.0 (Python 3.11)
# A good guess: parser.parse finds two hours and thirty minutes in '2 hours and 30 minutes', half a litre in
# 'half a litre', and a room and a time, or nothing, in 'room 12 at 8:30'.
# What happens: the minutes are minutes of arc, 1/60 of a degree, while the hours are hours; half a litre is
# 0.5 per litre, the room is 12 ampere-turns, and a date is a division. So sums and comparisons of durations
# in replies fail by dimension or leave the minutes out. 80 to 100 euros become one value, 90.
# Output seen on 2026-11-29:
#   2 hours and 30 minutes: 2 hour (time), 30 minute of arc (angle)
#   one second please: 1 second of arc (angle)
#   half a litre: 0.5 per litre (unknown)
#   room 12 at 8:30: 12 ampere-turn (magnetomotive force), 8 dimensionless (dimensionless), 30 dimensionless (dimensionless)
#   on 28/11/2026: 2.54545 dimensionless (dimensionless), 2026 dimensionless (dimensionless)
#   80 to 100 euros: 90 euro (currency)

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check quantulum3==0.10.0

cat > program.py <<'PY'
from quantulum3 import parser

texts = ("2 hours and 30 minutes", "one second please", "half a litre", "room 12 at 8:30", "on 28/11/2026", "80 to 100 euros")
for text in texts:
    found = [f"{q.value:g} {q.unit.name} ({q.unit.entity.name})" for q in parser.parse(text)]
    print(f"{text}: {', '.join(found)}")
PY

seen=$(venv/bin/python program.py 2>/dev/null)
printf '%s\n' "$seen"
expected=$(cat <<'END'
2 hours and 30 minutes: 2 hour (time), 30 minute of arc (angle)
one second please: 1 second of arc (angle)
half a litre: 0.5 per litre (unknown)
room 12 at 8:30: 12 ampere-turn (magnetomotive force), 8 dimensionless (dimensionless), 30 dimensionless (dimensionless)
on 28/11/2026: 2.54545 dimensionless (dimensionless), 2026 dimensionless (dimensionless)
80 to 100 euros: 90 euro (currency)
END
)
[ "$seen" = "$expected" ]
