#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-xdist 3.8.0 (Python 3.11)
# A good guess: with --dist loadgroup, six tests of one xdist_group run in one worker.
# What happens: the group is ignored without a word: both workers run tests of it. The same two commands with
# pytest 9.1.1 keep the group in one worker.
# Output seen on 2026-11-28:
#   pytest 9.2.0: 2 workers, 6 passed
#   pytest 9.1.1: 1 workers, 6 passed

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-xdist==3.8.0

cat > test_group.py <<'PY'
import os, time

import pytest


@pytest.mark.parametrize("number", range(6))
@pytest.mark.xdist_group("one")
def test_of_the_group(number):
    time.sleep(0.2)
    with open("workers.txt", "a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + "\n")
PY
run() {
    venv/bin/python -m pytest -q -n 2 --dist loadgroup test_group.py > log.txt
    echo "pytest 9.2.0: $(sort -u workers.txt | wc -l) workers, $(grep -o '6 passed' log.txt)"
    rm workers.txt
    venv/bin/pip install --quiet --disable-pip-version-check pytest==9.1.1
    venv/bin/python -m pytest -q -n 2 --dist loadgroup test_group.py > log.txt
    echo "pytest 9.1.1: $(sort -u workers.txt | wc -l) workers, $(grep -o '6 passed' log.txt)"
}

seen=$(run)
printf '%s\n' "$seen"
expected=$(cat <<'END'
pytest 9.2.0: 2 workers, 6 passed
pytest 9.1.1: 1 workers, 6 passed
END
)
[ "$seen" = "$expected" ]
