#!/usr/bin/env bash
# Packages: tinydb 4.9.0 (Python 3.11)
# A good guess: the id of a removed document is not given again, at least as it is not while the database
# stays open.
# What happens: after the file was closed and opened, the next id is one more than the highest that is left:
# the id of the last memory, once removed, is the next memory's. A reference to what the user had forgotten
# points to something new. While it stays open, the ids go on.
# Output seen on 2026-11-29:
#   open: forgotten 2, new 3, under the forgotten id: None
#   opened again: forgotten 2, new 2, under the forgotten id: {'text': 'I live in Leeds.'}

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check tinydb==4.9.0

cat > program.py <<'PY'
from tinydb import TinyDB


def store(again):
    db = TinyDB(f"memory-{again}.json")
    db.insert({"text": "I like tea."})
    nuts = db.insert({"text": "I eat no nuts."})
    db.remove(doc_ids=[nuts])
    if again:
        db.close()
        db = TinyDB(f"memory-{again}.json")
    new = db.insert({"text": "I live in Leeds."})
    return f"forgotten {nuts}, new {new}, under the forgotten id: {db.get(doc_id=nuts)}"


print("open:", store(False))
print("opened again:", store(True))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
open: forgotten 2, new 3, under the forgotten id: None
opened again: forgotten 2, new 2, under the forgotten id: {'text': 'I live in Leeds.'}
END
)
[ "$seen" = "$expected" ]
