#!/usr/bin/env bash
# Packages: price-parser 0.5.1 (Python 3.11)
# A good guess: the number that stands at the currency sign is the price: 120 dollars in '3 nights at $120'.
# What happens: the first number of the text gets the sign, and a comma between two numbers may make them one:
# 'Table for 2, 30 EUR' is 2.30 euros. Who checks sums in an assistant's replies with it reads nights, guests
# and rooms as prices; with the price first, it reads right.
# Output seen on 2026-11-29:
#   3 nights at $120: 3 $
#   1 room for 120 €: 1 €
#   2 people, $30 each: 2 $
#   room 12, £90: 12 £
#   Table for 2, 30 EUR: 2.30 EUR
#   30 EUR for 2: 30 EUR
#   at most 80 $ a night: 80 $

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check price-parser==0.5.1

cat > program.py <<'PY'
from price_parser import Price

for text in (
    "3 nights at $120",
    "1 room for 120 €",
    "2 people, $30 each",
    "room 12, £90",
    "Table for 2, 30 EUR",
    "30 EUR for 2",
    "at most 80 $ a night",
):
    price = Price.fromstring(text)
    print(f"{text}: {price.amount} {price.currency}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
3 nights at $120: 3 $
1 room for 120 €: 1 €
2 people, $30 each: 2 $
room 12, £90: 12 £
Table for 2, 30 EUR: 2.30 EUR
30 EUR for 2: 30 EUR
at most 80 $ a night: 80 $
END
)
[ "$seen" = "$expected" ]
