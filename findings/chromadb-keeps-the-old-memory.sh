#!/usr/bin/env bash
# Packages: chromadb 1.5.9 (Python 3.11)
# A good guess: collection.add with an id that is there replaces the text, or raises, as it raises for one id
# twice in the same call.
# What happens: it does neither: it returns as usual, and the old text and vector stay. A bot that stores
# 'diet' anew under the same id answers from what was true before; update of an id that is not there is as
# silent. upsert does what was meant.
# Output seen on 2026-11-29:
#   add again: None ['eats meat']
#   one id twice in a call: DuplicateIDError
#   update of another id: None ['eats meat']
#   upsert: None ['is vegetarian']

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check chromadb==1.5.9

cat > program.py <<'PY'
import chromadb
from chromadb.config import Settings
from chromadb.errors import DuplicateIDError

notes = chromadb.EphemeralClient(Settings(anonymized_telemetry=False)).create_collection("notes")
old, new = {"embeddings": [[1.0, 0.0]]}, {"embeddings": [[0.0, 1.0]]}


def held():
    return notes.get()["documents"]


notes.add(ids=["diet"], documents=["eats meat"], **old)
print("add again:", notes.add(ids=["diet"], documents=["is vegetarian"], **new), held())
try:
    notes.add(ids=["home", "home"], documents=["Leeds", "York"], embeddings=[[1.0, 0.0], [0.0, 1.0]])
except DuplicateIDError as error:
    print("one id twice in a call:", type(error).__name__)
print("update of another id:", notes.update(ids=["home"], documents=["Leeds"], **new), held())
print("upsert:", notes.upsert(ids=["diet"], documents=["is vegetarian"], **new), held())
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
add again: None ['eats meat']
one id twice in a call: DuplicateIDError
update of another id: None ['eats meat']
upsert: None ['is vegetarian']
END
)
[ "$seen" = "$expected" ]
