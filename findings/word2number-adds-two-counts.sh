#!/usr/bin/env bash
# Packages: word2number 1.1 (Python 3.11)
# A good guess: word_to_num reads one number: "two adults and three children" is 2, or is refused because it
# holds two numbers, and "nineteen thirty" is 1930.
# What happens: words that are no numbers are left out, and what is left is one number, whose small parts
# are added: 5, and 49. "two of three" is 5 as well. A check of a reply by its number passes on "five" where
# the assistant said two and three.
# Output seen on 2026-11-29:
#   one hundred and five: 105
#   two adults and three children: 5
#   two of three: 5
#   nineteen thirty: 49

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check word2number==1.1

cat > program.py <<'PY'
from word2number import w2n

for text in ("one hundred and five", "two adults and three children", "two of three", "nineteen thirty"):
    print(f"{text}: {w2n.word_to_num(text)}")
PY

seen=$(venv/bin/python -W ignore program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
one hundred and five: 105
two adults and three children: 5
two of three: 5
nineteen thirty: 49
END
)
[ "$seen" = "$expected" ]
