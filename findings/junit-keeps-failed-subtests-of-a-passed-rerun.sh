#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-rerunfailures 16.7 (Python 3.11)
# A good guess: a test whose subtest failed once and passed when it was run again is one passed test, on the
# screen and in the JUnit file.
# What happens: the screen says "1 passed" and the exit code is 0, but the JUnit file counts a failure: the
# failed subtest of the first run stays in it, so CI shows a red test in a green run. Without subtests, the
# file has no failure.
# Output seen on 2026-11-28:
#   twice: exit 0, 1 passed, JUnit failures="1"
#   plain: exit 0, 1 passed, JUnit failures="0"

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-rerunfailures==16.7

cat > test_twice.py <<'PY'
runs = []


def test_with_a_subtest(subtests):
    runs.append(1)
    with subtests.test("reply"):
        assert len(runs) > 1
PY
cat > test_plain.py <<'PY'
runs = []


def test_without():
    runs.append(1)
    assert len(runs) > 1
PY
run() {
    for name in twice plain; do
        venv/bin/python -m pytest -q --reruns 1 --junit-xml "$name.xml" "test_$name.py" > log.txt
        echo "$name: exit $?, $(tail -1 log.txt | grep -o '^1 passed'), JUnit $(grep -o 'failures="[0-9]*"' "$name.xml")"
    done
}

seen=$(run)
printf '%s\n' "$seen"
expected=$(cat <<'END'
twice: exit 0, 1 passed, JUnit failures="1"
plain: exit 0, 1 passed, JUnit failures="0"
END
)
[ "$seen" = "$expected" ]
