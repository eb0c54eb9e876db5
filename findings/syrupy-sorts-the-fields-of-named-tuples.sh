#!/usr/bin/env bash
# Packages: pytest 9.2.0, syrupy 7.0.2 (Python 3.11)
# A good guess: the snapshot of a named tuple lists its fields in their order, and another order of the fields
# changes the snapshot, because a tuple is its order.
# What happens: the fields are sorted by name, so two classes whose fields stand in another order have the
# same snapshot, and the test passes although the tuples differ.
# Output seen on 2026-11-28:
#   ('Friday', 'Rome')
#     Booking(
#       city='Rome',
#       day='Friday',
#     )
#   ('Rome', 'Friday')
#   1 snapshot passed

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 syrupy==7.0.2

cat > test_order.py <<'PY'
from collections import namedtuple
from pathlib import Path

fields = Path("fields.txt").read_text().split()
Booking = namedtuple("Booking", fields)


def test_order(snapshot):
    booking = Booking(**{"day": "Friday", "city": "Rome"})
    Path("tuple.txt").write_text(str(tuple(booking)))
    assert booking == snapshot
PY
run() {
    echo "day city" > fields.txt
    venv/bin/python -m pytest -q --snapshot-update test_order.py > log.txt
    cat tuple.txt && echo && grep -A3 Booking __snapshots__/test_order.ambr
    echo "city day" > fields.txt
    venv/bin/python -m pytest -q test_order.py > log.txt
    cat tuple.txt && echo && grep -o '1 snapshot passed' log.txt
}

seen=$(run)
printf '%s\n' "$seen"
expected=$(cat <<'END'
('Friday', 'Rome')
  Booking(
    city='Rome',
    day='Friday',
  )
('Rome', 'Friday')
1 snapshot passed
END
)
[ "$seen" = "$expected" ]
