#!/usr/bin/env bash
# Packages: langgraph 1.2.24, langgraph-checkpoint-sqlite 3.1.2 (Python 3.11)
# A good guess: InMemoryStore and SqliteStore have one interface, so a filter that a test tries on the first
# finds the same memories in the second.
# What happens: "not equal" finds memories without the field in the first store and leaves them out in the
# second; "greater than" on numbers written as text compares numbers in the first and letters in the second; a
# filter on a nested value works in the first only.
# Output seen on 2026-11-28:
#   InMemoryStore, kind is not plan: ['a', 'c']
#   InMemoryStore, count over 9: ['b', 'c']
#   InMemoryStore, in Rome: ['c']
#   SqliteStore, kind is not plan: ['a']
#   SqliteStore, count over 9: []
#   SqliteStore, in Rome: refused: Unsupported operator: city

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint-sqlite==3.1.2

cat > program.py <<'PY'
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

memories = {"a": {"kind": "taste", "count": "9"}, "b": {"kind": "plan", "count": "10"}, "c": {"place": {"city": "Rome"}, "count": "11"}}
filters = {"kind is not plan": {"kind": {"$ne": "plan"}}, "count over 9": {"count": {"$gt": "9"}}, "in Rome": {"place": {"city": "Rome"}}}
with SqliteStore.from_conn_string(":memory:") as sqlite:
    sqlite.setup()
    for store in (InMemoryStore(), sqlite):
        for key, value in memories.items():
            store.put(("ann",), key, value)
        for words, condition in filters.items():
            try:
                found = sorted(item.key for item in store.search(("ann",), filter=condition))
            except ValueError as error:
                found = f"refused: {error}"
            print(f"{type(store).__name__}, {words}: {found}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
InMemoryStore, kind is not plan: ['a', 'c']
InMemoryStore, count over 9: ['b', 'c']
InMemoryStore, in Rome: ['c']
SqliteStore, kind is not plan: ['a']
SqliteStore, count over 9: []
SqliteStore, in Rome: refused: Unsupported operator: city
END
)
[ "$seen" = "$expected" ]
