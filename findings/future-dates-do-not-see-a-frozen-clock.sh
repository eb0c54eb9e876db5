#!/usr/bin/env bash
# Packages: pydantic 2.14.4, time-machine 3.6.0, freezegun 1.5.5 (Python 3.11)
# A good guess: in a test whose clock stands at 1 January 2020, a booking with a FutureDate of June 2020 is
# valid and one of June 2019 is not, with time-machine or freezegun.
# What happens: pydantic asks the clock of the machine, from Rust: June 2020 is no future, and is a past date.
# Under freezegun that is so only where a date was validated before; if the first one of the process comes
# while the clock is frozen, each FutureDate and PastDate is a TypeError about None.
# Output seen on 2026-11-29:
#   time-machine, Booking 2020-06-01: ValidationError: Date should be in the future
#   time-machine, Memory 2020-06-01: valid 2020-06-01
#   freezegun after a date, Booking 2020-06-01: ValidationError: Date should be in the future
#   freezegun after a date, Memory 2020-06-01: valid 2020-06-01
#   freezegun, Booking 2020-06-01: TypeError: 'NoneType' object cannot be interpreted as an integer
#   freezegun, Memory 2020-06-01: TypeError: 'NoneType' object cannot be interpreted as an integer

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pydantic==2.14.4 time-machine==3.6.0 freezegun==1.5.5

cat > program.py <<'PY'
import sys

import freezegun
import time_machine
from pydantic import BaseModel, FutureDate, PastDate


class Booking(BaseModel):
    day: FutureDate


class Memory(BaseModel):
    day: PastDate


def read(model, day):
    try:
        return f"valid {model(day=day).day}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[-2 if len(str(error).splitlines()) > 1 else 0].strip().split(' [')[0]}"


frozen = {"time-machine": time_machine.travel("2020-01-01", tick=False)}.get(sys.argv[1], freezegun.freeze_time("2020-01-01"))
if len(sys.argv) > 2:
    Memory(day="2019-06-01")
with frozen:
    for model, day in ((Booking, "2020-06-01"), (Memory, "2020-06-01")):
        print(f"{' '.join(sys.argv[1:])}, {model.__name__} {day}: {read(model, day)}")
PY

seen=$(
  venv/bin/python program.py time-machine
  venv/bin/python program.py freezegun 'after a date'
  venv/bin/python program.py freezegun
)
printf '%s\n' "$seen"
expected=$(cat <<'END'
time-machine, Booking 2020-06-01: ValidationError: Date should be in the future
time-machine, Memory 2020-06-01: valid 2020-06-01
freezegun after a date, Booking 2020-06-01: ValidationError: Date should be in the future
freezegun after a date, Memory 2020-06-01: valid 2020-06-01
freezegun, Booking 2020-06-01: TypeError: 'NoneType' object cannot be interpreted as an integer
freezegun, Memory 2020-06-01: TypeError: 'NoneType' object cannot be interpreted as an integer
END
)
[ "$seen" = "$expected" ]
