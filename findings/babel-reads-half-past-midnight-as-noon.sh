#!/usr/bin/env bash
# Packages: babel 2.16.0 (Python 3.11)
# A good guess: parse_time reads what format_time writes for the same locale: 12:30 AM is half an hour past
# midnight, and 12:30 PM past noon.
# What happens: twelve hours are added for PM and none are taken away for AM: Babel's own 12:30 AM is read as
# half past noon, and its own 12:30 PM is an error. '7:30 p.m.' is half past seven in the morning.
# Output seen on 2026-11-29:
#   12:30 AM: 12:30
#   7:30 AM: 07:30
#   12:30 PM: ValueError: hour must be in 0..23
#   7:30 PM: 19:30
#   7:30 p.m.: 07:30

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check babel==2.16.0

cat > program.py <<'PY'
from datetime import time

from babel.dates import format_time, parse_time

written = [format_time(t, "short", locale="en_US") for t in (time(0, 30), time(7, 30), time(12, 30), time(19, 30))]
for text in [*written, "7:30 p.m."]:
    try:
        read = parse_time(text, locale="en_US").isoformat("minutes")
    except ValueError as error:
        read = f"{type(error).__name__}: {error}"
    print(f"{' '.join(text.split())}: {read}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
12:30 AM: 12:30
7:30 AM: 07:30
12:30 PM: ValueError: hour must be in 0..23
7:30 PM: 19:30
7:30 p.m.: 07:30
END
)
[ "$seen" = "$expected" ]
