#!/usr/bin/env bash
# Packages: faiss-cpu 1.15.1 (Python 3.11)
# A good guess: a search for five neighbours among three memories gives three ids, or raises an error.
# What happens: it gives five: the missing ones are -1, which as an index of a Python list is the last text.
# So [texts[i] for i in ids] holds the last memory three times, one of them right; without a look at the
# scores (3.4e38) nothing tells. A vector with nan is never found, and its place has -1 too.
# Output seen on 2026-11-29:
#   three: ids [0, 2, 1, -1, -1], distances below 1e38: 3
#     ['I like tea.', 'I live in Leeds.', 'I eat no nuts.', 'I live in Leeds.', 'I live in Leeds.']
#   one of them nan: ids [2, 1, -1, -1, -1], distances below 1e38: 2
#     ['I live in Leeds.', 'I eat no nuts.', 'I live in Leeds.', 'I live in Leeds.', 'I live in Leeds.']

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check faiss-cpu==1.15.1

cat > program.py <<'PY'
import faiss
import numpy

texts = ["I like tea.", "I eat no nuts.", "I live in Leeds."]
vectors = numpy.array([[1, 0], [0, 1], [0.6, 0.8]], dtype="float32")
for what, stored in (("three", vectors), ("one of them nan", numpy.vstack([[[numpy.nan, 0]], vectors[1:]]).astype("float32"))):
    index = faiss.IndexFlatL2(2)
    index.add(stored)
    distances, ids = index.search(vectors[:1], 5)
    print(f"{what}: ids {ids[0].tolist()}, distances below 1e38: {int((distances < 1e38).sum())}")
    print(f"  {[texts[i] for i in ids[0]]}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
three: ids [0, 2, 1, -1, -1], distances below 1e38: 3
  ['I like tea.', 'I live in Leeds.', 'I eat no nuts.', 'I live in Leeds.', 'I live in Leeds.']
one of them nan: ids [2, 1, -1, -1, -1], distances below 1e38: 2
  ['I live in Leeds.', 'I eat no nuts.', 'I live in Leeds.', 'I live in Leeds.', 'I live in Leeds.']
END
)
[ "$seen" = "$expected" ]
