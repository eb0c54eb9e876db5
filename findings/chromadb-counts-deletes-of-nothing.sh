#!/usr/bin/env bash
# Packages: chromadb 1.5.9 (Python 3.11)
# A good guess: collection.delete(ids=...) says how many records it removed: {"deleted": 0} for an id that the
# collection does not hold.
# What happens: it counts the ids that were asked for. A test that a memory was forgotten passes on
# {"deleted": 1} although nothing was there; with where=, the count is of what matched.
# Output seen on 2026-11-28:
#   an id that is not there: {'deleted': 1} left 1
#   a user that is not there: {'deleted': 0} left 1
#   an id that is there: {'deleted': 1} left 0
#   the same id again: {'deleted': 1} left 0

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check chromadb==1.5.9

cat > program.py <<'PY'
import chromadb
from chromadb.config import Settings

collection = chromadb.EphemeralClient(Settings(anonymized_telemetry=False)).create_collection("memories")
collection.add(ids=["tea"], embeddings=[[1.0, 0.0]], documents=["likes tea"], metadatas=[{"user": "ann"}])
print("an id that is not there:", collection.delete(ids=["coffee"]), "left", collection.count())
print("a user that is not there:", collection.delete(where={"user": "bob"}), "left", collection.count())
print("an id that is there:", collection.delete(ids=["tea"]), "left", collection.count())
print("the same id again:", collection.delete(ids=["tea"]), "left", collection.count())
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
an id that is not there: {'deleted': 1} left 1
a user that is not there: {'deleted': 0} left 1
an id that is there: {'deleted': 1} left 0
the same id again: {'deleted': 1} left 0
END
)
[ "$seen" = "$expected" ]
