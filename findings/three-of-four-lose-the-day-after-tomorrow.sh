#!/usr/bin/env bash
# Packages: dateparser 1.5.0, parsedatetime 2.6, timefhuman 0.1.5, ctparse 0.3.6 (Python 3.11)
# A good guess: four parsers of dates in English read 'the day after tomorrow' as one day, and on a Wednesday
# they differ at most in what 'next Friday' is.
# What happens: three read 'tomorrow' out of it and leave the rest; a check that a date was found sees
# nothing, and a check with another parser than the assistant's finds a fault that is none. 'Next Friday' is
# in two days for two and in nine for two; 'next Monday' in five days for three; and two of them lose the
# eight of 'tonight at 8'.
# Output seen on 2026-11-29:
#   the day after tomorrow: dateparser 27 Nov, parsedatetime 26 Nov, timefhuman 26 Nov, ctparse 26 Nov
#   next friday: dateparser 27 Nov, parsedatetime 04 Dec, timefhuman 27 Nov, ctparse 04 Dec
#   next monday: dateparser 30 Nov, parsedatetime 30 Nov, timefhuman 30 Nov, ctparse 07 Dec
#   tonight at 8: dateparser 25 Nov 10:00, parsedatetime 25 Nov 21:00, timefhuman 25 Nov 20:00, ctparse 25 Nov 20:00

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dateparser==1.5.0 parsedatetime==2.6 timefhuman==0.1.5 ctparse==0.3.6

cat > program.py <<'PY'
import warnings
from datetime import datetime

warnings.simplefilter("ignore")
import dateparser
import parsedatetime
from ctparse import ctparse
from timefhuman import tfhConfig, timefhuman

now = datetime(2026, 11, 25, 10)  # a Wednesday
future = {"RELATIVE_BASE": now, "PREFER_DATES_FROM": "future"}
readers = {
    "dateparser": lambda text: dateparser.parse(text, settings=future),
    "parsedatetime": lambda text: parsedatetime.Calendar().parseDT(text, now)[0],
    "timefhuman": lambda text: timefhuman(text, tfhConfig(now=now))[0],
    "ctparse": lambda text: getattr(found := ctparse(text, ts=now).resolution, "t_from", None) or found,
}
for text, form in (("the day after tomorrow", "%d %b"), ("next friday", "%d %b"), ("next monday", "%d %b"), ("tonight at 8", "%d %b %H:%M")):
    read = {name: reader(text) for name, reader in readers.items()}
    days = {name: (when.dt if hasattr(when, "dt") else when).strftime(form) for name, when in read.items()}
    print(f"{text}: {', '.join(f'{name} {day}' for name, day in days.items())}")
PY

seen=$(venv/bin/python program.py 2>/dev/null)
printf '%s\n' "$seen"
expected=$(cat <<'END'
the day after tomorrow: dateparser 27 Nov, parsedatetime 26 Nov, timefhuman 26 Nov, ctparse 26 Nov
next friday: dateparser 27 Nov, parsedatetime 04 Dec, timefhuman 27 Nov, ctparse 04 Dec
next monday: dateparser 30 Nov, parsedatetime 30 Nov, timefhuman 30 Nov, ctparse 07 Dec
tonight at 8: dateparser 25 Nov 10:00, parsedatetime 25 Nov 21:00, timefhuman 25 Nov 20:00, ctparse 25 Nov 20:00
END
)
[ "$seen" = "$expected" ]
