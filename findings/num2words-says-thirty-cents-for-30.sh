#!/usr/bin/env bash
# Packages: num2words 0.5.14 (Python 3.11)
# A good guess: num2words(30, to='currency', currency='USD') is thirty dollars, as num2words(30.5, ...) is
# thirty dollars and fifty cents.
# What happens: a whole number counts cents and a float counts dollars, so that 30 is thirty cents, 30.0
# thirty dollars, and the text '30' thirty dollars again. A simulated user whose budget is read from JSON as
# 30 says that it has thirty cents.
# Output seen on 2026-11-29:
#   30: zero dollars, thirty cents
#   30.0: thirty dollars, zero cents
#   30.5: thirty dollars, fifty cents
#   '30': thirty dollars, zero cents
#   Decimal('30'): thirty dollars, zero cents

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check num2words==0.5.14

cat > program.py <<'PY'
from decimal import Decimal

from num2words import num2words

for value in (30, 30.0, 30.5, "30", Decimal(30)):
    print(f"{value!r}: {num2words(value, to='currency', currency='USD')}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
30: zero dollars, thirty cents
30.0: thirty dollars, zero cents
30.5: thirty dollars, fifty cents
'30': thirty dollars, zero cents
Decimal('30'): thirty dollars, zero cents
END
)
[ "$seen" = "$expected" ]
