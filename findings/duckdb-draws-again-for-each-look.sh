#!/usr/bin/env bash
# Packages: duckdb 2.0.0 (Python 3.11)
# A good guess: drawn = duckdb.sql("FROM users USING SAMPLE 5") holds five users: fetchall() gives the same ones
# whenever it is called, and fetchone() gives the first of them.
# What happens: a relation holds a query, and each look runs it anew: two looks show two samples, so that a test
# may check one and report the other. fetchone() and fetchmany() are gone from relations since 2.0, while a
# cursor of connection.execute() still has them. materialize() keeps what was drawn.
# Output seen on 2026-11-29:
#   two looks at a sample: the same no
#   fetchone: Relations no longer have fetchone()
#   materialized: the same yes
#   a cursor: (0,) and then [(1,), (2,)]

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check duckdb==2.0.0

cat > program.py <<'PY'
import duckdb


def same(relation):
    return "yes" if relation.fetchall() == relation.fetchall() else "no"


drawn = duckdb.sql("FROM range(1000000) USING SAMPLE 5")
print("two looks at a sample: the same", same(drawn))
try:
    print("fetchone:", drawn.fetchone())
except AttributeError as error:
    print("fetchone:", str(error).partition(":")[0])
print("materialized: the same", same(drawn.materialize()))
cursor = duckdb.connect().execute("FROM range(3)")
print("a cursor:", cursor.fetchone(), "and then", cursor.fetchall())
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
two looks at a sample: the same no
fetchone: Relations no longer have fetchone()
materialized: the same yes
a cursor: (0,) and then [(1,), (2,)]
END
)
[ "$seen" = "$expected" ]
