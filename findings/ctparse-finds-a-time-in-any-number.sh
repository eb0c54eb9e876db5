#!/usr/bin/env bash
# Packages: ctparse 0.3.6 (Python 3.11)
# A good guess: ctparse returns None where a text names no time: 'table for 2', 'room 12', 'I am 30'.
# What happens: each number is a time, an hour or a day of the month, and 'flight 1234' is this night; only
# text without a number is None. The score is below zero for 'at 7pm' too, so it does not tell a table for two
# from a time.
# Output seen on 2026-11-29:
#   tomorrow: 2026-11-26 X:X (X/X), score below zero: False
#   at 7pm: 2026-11-25 19:00 (X/X), score below zero: True
#   no nuts: None, score below zero: None
#   table for 2: 2026-11-26 02:00 (X/X), score below zero: True
#   I have 2 kids: 2026-11-26 02:00 (X/X), score below zero: True
#   room 12: 2026-11-25 12:00 (X/X), score below zero: True
#   I am 30: 2026-11-30 X:X (X/X), score below zero: True
#   4 stars: 2026-12-04 X:X (X/X), score below zero: True
#   flight 1234: 2026-11-25 X:X (X/night), score below zero: True

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check ctparse==0.3.6

cat > program.py <<'PY'
import warnings
from datetime import datetime

warnings.simplefilter("ignore")
from ctparse import ctparse

now = datetime(2026, 11, 25, 10)
for text in ("tomorrow", "at 7pm", "no nuts", "table for 2", "I have 2 kids", "room 12", "I am 30", "4 stars", "flight 1234"):
    found = ctparse(text, ts=now)
    print(f"{text}: {found and found.resolution}, score below zero: {found and bool(found.score < 0)}")
PY

seen=$(venv/bin/python program.py 2>/dev/null)
printf '%s\n' "$seen"
expected=$(cat <<'END'
tomorrow: 2026-11-26 X:X (X/X), score below zero: False
at 7pm: 2026-11-25 19:00 (X/X), score below zero: True
no nuts: None, score below zero: None
table for 2: 2026-11-26 02:00 (X/X), score below zero: True
I have 2 kids: 2026-11-26 02:00 (X/X), score below zero: True
room 12: 2026-11-25 12:00 (X/X), score below zero: True
I am 30: 2026-11-30 X:X (X/X), score below zero: True
4 stars: 2026-12-04 X:X (X/X), score below zero: True
flight 1234: 2026-11-25 X:X (X/night), score below zero: True
END
)
[ "$seen" = "$expected" ]
