#!/usr/bin/env bash
# Packages: pycountry 26.2.16 (Python 3.11)
# A good guess: search_fuzzy puts the country first whose name is the text: Niger for 'Niger'. For a city that
# it does not know it finds nothing.
# What happens: the points of an exact name and of its letters within other names and regions are added up, so
# 'Niger' finds Nigeria first and 'Korea' the North; 'Rome' finds Czechia, by the letters in Kromeriz. The
# older 'Turkey' finds nothing. lookup() finds 'Niger', and knows neither 'UK' nor 'Russia'.
# Output seen on 2026-11-29:
#   Niger: fuzzy Nigeria, lookup Niger
#   Korea: fuzzy Korea, Democratic People's Republic of, lookup nothing
#   Rome: fuzzy Czechia, lookup nothing
#   UK: fuzzy United Kingdom, lookup nothing
#   Russia: fuzzy Russian Federation, lookup nothing
#   Turkey: fuzzy nothing, lookup nothing

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pycountry==26.2.16

cat > program.py <<'PY'
import pycountry


def name(find, text):
    try:
        found = find(text)
    except LookupError:
        return "nothing"
    return (found[0] if isinstance(found, list) else found).name


for text in ("Niger", "Korea", "Rome", "UK", "Russia", "Turkey"):
    print(f"{text}: fuzzy {name(pycountry.countries.search_fuzzy, text)}, lookup {name(pycountry.countries.lookup, text)}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
Niger: fuzzy Nigeria, lookup Niger
Korea: fuzzy Korea, Democratic People's Republic of, lookup nothing
Rome: fuzzy Czechia, lookup nothing
UK: fuzzy United Kingdom, lookup nothing
Russia: fuzzy Russian Federation, lookup nothing
Turkey: fuzzy nothing, lookup nothing
END
)
[ "$seen" = "$expected" ]
