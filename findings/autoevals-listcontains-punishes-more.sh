#!/usr/bin/env bash
# Packages: autoevals[scipy] 0.4.1 (Python 3.11)
# A good guess: ListContains is 1 where the output contains each expected item, whatever else it contains.
# What happens: an item more costs as much as an item missing: the score is divided by the longer list. So an
# assistant that names the two wanted places and one more gets 0.67. allow_extra_entities=True gives what the
# name says.
# Output seen on 2026-11-28:
#   ['Rome', 'Paris']: 1.00, with allow_extra_entities 1.00
#   ['Rome', 'Paris', 'Oslo']: 0.67, with allow_extra_entities 1.00
#   ['Rome']: 0.50, with allow_extra_entities 0.50

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check autoevals[scipy]==0.4.1

cat > program.py <<'PY'
import asyncio

from autoevals import ListContains

expected = ["Rome", "Paris"]
for output in (["Rome", "Paris"], ["Rome", "Paris", "Oslo"], ["Rome"]):
    plain = ListContains()(output=output, expected=expected).score
    more = ListContains(allow_extra_entities=True)(output=output, expected=expected).score
    print(f"{output}: {float(plain):.2f}, with allow_extra_entities {float(more):.2f}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
['Rome', 'Paris']: 1.00, with allow_extra_entities 1.00
['Rome', 'Paris', 'Oslo']: 0.67, with allow_extra_entities 1.00
['Rome']: 0.50, with allow_extra_entities 0.50
END
)
[ "$seen" = "$expected" ]
