#!/usr/bin/env bash
# Packages: pint 0.25.3 (Python 3.11)
# A good guess: ureg('2 hours 30 minutes') is two and a half hours, or is refused as two quantities, and '1,5
# litres' is one and a half, or is refused.
# What happens: a space is a multiplication: the text is 60 hour-minutes, a quantity of time squared, and '1
# 1/2 cups' is half a cup. A comma is left out, so '1,5 litres' is 15. None raises an error by itself; only a
# comparison with a time does.
# Output seen on 2026-11-29:
#   2.5 hours: 2.5 hour
#   2 hours 30 minutes: 60 hour * minute
#   2 hours + 30 minutes: 2.5 hour
#   5 ft 11 in: 55 foot * inch
#   1 1/2 cups: 0.5 cup
#   1.5 litres: 1.5 liter
#   1,5 litres: 15 liter

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pint==0.25.3

cat > program.py <<'PY'
import pint

ureg = pint.UnitRegistry()
for text in ("2.5 hours", "2 hours 30 minutes", "2 hours + 30 minutes", "5 ft 11 in", "1 1/2 cups", "1.5 litres", "1,5 litres"):
    print(f"{text}: {ureg(text)}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
2.5 hours: 2.5 hour
2 hours 30 minutes: 60 hour * minute
2 hours + 30 minutes: 2.5 hour
5 ft 11 in: 55 foot * inch
1 1/2 cups: 0.5 cup
1.5 litres: 1.5 liter
1,5 litres: 15 liter
END
)
[ "$seen" = "$expected" ]
