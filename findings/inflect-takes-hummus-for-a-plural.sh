#!/usr/bin/env bash
# Packages: inflect 7.6.0 (Python 3.11)
# A good guess: singular_noun returns False where a word is in the singular already, so a check of foods in a
# reply may take it for every word: hummus stays hummus.
# What happens: a word that ends in s is a plural, unless it is in a list: hummus is hummu, asparagus
# asparagu, couscous couscou, a bus a bu, and 'yes' ye. Two texts that are compared by their singulars match
# or miss by chance; 'glass' and 'rice' are left alone.
# Output seen on 2026-11-29:
#   allergies: allergy
#   glass: False
#   rice: False
#   hummus: hummu
#   asparagus: asparagu
#   couscous: couscou
#   bus: bu
#   Leeds: Leed
#   yes: ye

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check inflect==7.6.0

cat > program.py <<'PY'
import inflect

engine = inflect.engine()
for word in ("allergies", "glass", "rice", "hummus", "asparagus", "couscous", "bus", "Leeds", "yes"):
    print(f"{word}: {engine.singular_noun(word)}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
allergies: allergy
glass: False
rice: False
hummus: hummu
asparagus: asparagu
couscous: couscou
bus: bu
Leeds: Leed
yes: ye
END
)
[ "$seen" = "$expected" ]
