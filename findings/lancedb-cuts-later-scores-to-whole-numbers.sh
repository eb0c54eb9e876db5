#!/usr/bin/env bash
# Packages: lancedb 0.40.0 (Python 3.11)
# A good guess: a table that was made with the score 4 takes 4.5 as 4.5, or refuses it because the column is
# of whole numbers.
# What happens: the first row gives the type, and add() casts what comes after without a word: 4.5 and 4.9 are
# stored as 4, '3' as 3. The mean depends on which score came first; a table that was made with 4.0 keeps all
# of them.
# Output seen on 2026-11-29:
#   first 4: [4, 4, 4, 3], mean 3.75
#   first 4.0: [4.0, 4.5, 4.9, 3.0], mean 4.10

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check lancedb==0.40.0

cat > program.py <<'PY'
import lancedb

for first in (4, 4.0):
    table = lancedb.connect(f"memory-{type(first).__name__}").create_table("scores", [{"user": "ann", "score": first}])
    table.add([{"user": "ben", "score": 4.5}, {"user": "cem", "score": 4.9}])
    table.add([{"user": "dan", "score": "3"}])
    scores = [row["score"] for row in table.search().to_list()]
    print(f"first {first!r}: {scores}, mean {sum(scores) / len(scores):.2f}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
first 4: [4, 4, 4, 3], mean 3.75
first 4.0: [4.0, 4.5, 4.9, 3.0], mean 4.10
END
)
[ "$seen" = "$expected" ]
