#!/usr/bin/env bash
# Packages: rank_bm25 0.2.2 (Python 3.11)
# A good guess: of two memories, the one that holds the word asked for comes first.
# What happens: BM25Okapi gives a word that stands in half of the texts a weight of log(1) = 0, so both score
# 0, and get_top_n takes the last one. A memory over it forgets a user with two notes; with a third note the
# same question is answered. BM25Plus does not do so.
# Output seen on 2026-11-29:
#   BM25Okapi, two notes: [0.0, 0.0] -> i live in leeds now
#   BM25Okapi, three notes: [0.51, 0.0, 0.0] -> i am allergic to nuts
#   BM25Plus, two notes: [2.2, 1.1] -> i am allergic to nuts
#   BM25Plus, three notes: [2.77, 1.39, 1.39] -> i am allergic to nuts

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check rank_bm25==0.2.2

cat > program.py <<'PY'
from rank_bm25 import BM25Okapi, BM25Plus


def found(kind, notes):
    index = kind([note.split() for note in notes])
    scores = [round(float(score), 2) + 0.0 for score in index.get_scores(["allergic"])]
    return f"{scores} -> {index.get_top_n(['allergic'], notes, n=1)[0]}"


two = ["i am allergic to nuts", "i live in leeds now"]
for kind in (BM25Okapi, BM25Plus):
    print(f"{kind.__name__}, two notes: {found(kind, two)}")
    print(f"{kind.__name__}, three notes: {found(kind, [*two, 'my sister is called ana'])}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
BM25Okapi, two notes: [0.0, 0.0] -> i live in leeds now
BM25Okapi, three notes: [0.51, 0.0, 0.0] -> i am allergic to nuts
BM25Plus, two notes: [2.2, 1.1] -> i am allergic to nuts
BM25Plus, three notes: [2.77, 1.39, 1.39] -> i am allergic to nuts
END
)
[ "$seen" = "$expected" ]
