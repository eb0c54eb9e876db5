#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-json-report 1.5.0 (Python 3.11)
# A good guess: the report of a test whose subtests all passed says "passed", and the summary counts it under
# "passed", as pytest's own exit code 0 and its last line do.
# What happens: the outcome of the test is "subtests passed" and the summary has no "passed" at all, so a
# script that compares passed with total sees a run in which nothing passed. Without subtests both are as
# expected.
# Output seen on 2026-11-29:
#   test_plain: exit 0
#   1 passed
#   summary {'passed': 1, 'total': 1}
#   outcome passed
#   test_subtests: exit 0
#   1 passed, 1 subtests passed
#   summary {'subtests passed': 1, 'total': 1}
#   outcome subtests passed

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-json-report==1.5.0

cat > test_reply.py <<'PY'
def test_plain():
    assert "tea" in "I have tea."


def test_subtests(subtests):
    with subtests.test("drink"):
        assert "tea" in "I have tea."
PY
cat > show.py <<'PY'
import json

with open(".report.json") as file:
    report = json.load(file)
print("summary", {name: count for name, count in report["summary"].items() if name != "collected"})
print("outcome", *(test["outcome"] for test in report["tests"]))
PY
run() {
    for test in test_plain test_subtests; do
        venv/bin/python -m pytest -q --json-report "test_reply.py::$test" > log.txt && echo "$test: exit 0"
        grep -o '1 passed.*' log.txt | sed 's/ in [0-9.]*s$//'
        venv/bin/python show.py
    done
}

seen=$(run)
printf '%s\n' "$seen"
expected=$(cat <<'END'
test_plain: exit 0
1 passed
summary {'passed': 1, 'total': 1}
outcome passed
test_subtests: exit 0
1 passed, 1 subtests passed
summary {'subtests passed': 1, 'total': 1}
outcome subtests passed
END
)
[ "$seen" = "$expected" ]
