#!/usr/bin/env bash
# Packages: rapidfuzz 3.14.6 (Python 3.11)
# A good guess: partial_token_set_ratio of '7 pm' and '8 pm' is below 100, and token_set_ratio of 'I eat meat'
# and 'I eat no meat' too; two empty texts are equal for each scorer.
# What happens: one word in common is enough for 100, in whatever texts it stands: 'at 7 pm' is 'I am at home'
# by its 'at'. A word more costs nothing for token_set_ratio, not even the 'no'. Two empty replies have 100 by
# ratio and 0 by token_set_ratio, WRatio and QRatio.
# Output seen on 2026-11-29:
#   '7 pm' and '8 pm': ratio 75, token_set_ratio 75, partial_token_set_ratio 100, WRatio 75, QRatio 75
#   'at 7 pm' and 'I am at home': ratio 42, token_set_ratio 53, partial_token_set_ratio 100, WRatio 86, QRatio 42
#   'I eat meat' and 'I eat no meat': ratio 87, token_set_ratio 100, partial_token_set_ratio 100, WRatio 95, QRatio 87
#   '' and '': ratio 100, token_set_ratio 0, partial_token_set_ratio 0, WRatio 0, QRatio 0

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check rapidfuzz==3.14.6

cat > program.py <<'PY'
from rapidfuzz import fuzz

scorers = (fuzz.ratio, fuzz.token_set_ratio, fuzz.partial_token_set_ratio, fuzz.WRatio, fuzz.QRatio)
for a, b in (("7 pm", "8 pm"), ("at 7 pm", "I am at home"), ("I eat meat", "I eat no meat"), ("", "")):
    print(f"{a!r} and {b!r}: {', '.join(f'{scorer.__name__} {scorer(a, b):.0f}' for scorer in scorers)}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
'7 pm' and '8 pm': ratio 75, token_set_ratio 75, partial_token_set_ratio 100, WRatio 75, QRatio 75
'at 7 pm' and 'I am at home': ratio 42, token_set_ratio 53, partial_token_set_ratio 100, WRatio 86, QRatio 42
'I eat meat' and 'I eat no meat': ratio 87, token_set_ratio 100, partial_token_set_ratio 100, WRatio 95, QRatio 87
'' and '': ratio 100, token_set_ratio 0, partial_token_set_ratio 0, WRatio 0, QRatio 0
END
)
[ "$seen" = "$expected" ]
