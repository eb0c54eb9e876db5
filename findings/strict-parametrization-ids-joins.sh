#!/usr/bin/env bash
# Packages: pytest 9.2.0 (Python 3.11)
# A good guess: strict_parametrization_ids refuses a test of which two cases have the same id.
# What happens: it looks at each parametrize call alone. Two calls whose ids are joined by a hyphen to the
# same text (a + b-c, a-b + c) pass: two tests have one node id, and the id selects both of them.
# Output seen on 2026-11-28:
#   test_ids.py::test_of[a-b-c]
#   test_ids.py::test_of[a-b-c]
#
#   2 tests collected
#   Duplicate parametrization IDs detected

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0

cat > test_ids.py <<'PY'
import pytest


@pytest.mark.parametrize("domain", ["b-c", "c"])
@pytest.mark.parametrize("user", ["a", "a-b"])
def test_of(user, domain):
    pass
PY
run() {
    venv/bin/python -m pytest -q -o strict_parametrization_ids=true "test_ids.py::test_of[a-b-c]" --collect-only
    sed 's/"a-b"/"a"/' test_ids.py > test_one_call.py
    venv/bin/python -m pytest -q -o strict_parametrization_ids=true test_one_call.py > log.txt || true
    grep -o 'Duplicate parametrization IDs detected' log.txt | head -1
}

seen=$(run | sed 's/ in [0-9.]*s$//')
printf '%s\n' "$seen"
expected=$(cat <<'END'
test_ids.py::test_of[a-b-c]
test_ids.py::test_of[a-b-c]

2 tests collected
Duplicate parametrization IDs detected
END
)
[ "$seen" = "$expected" ]
