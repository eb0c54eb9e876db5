#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-rerunfailures 16.7 (Python 3.11)
# A good guess: a test that fails in each of its five attempts is one failed case in the JUnit file, whose
# tests="1" says how many cases follow. What record_property wrote stands in it once.
# What happens: five cases follow. Four of them have no failure, so a reader that counts cases sees a test
# that passes four times in five. Each attempt keeps the properties of those before it, so the failed case has
# the score five times, the first attempt's first.
# Output seen on 2026-11-29:
#   1 failed, 4 rerun
#   tests=1 failures=1
#   cases 5, without a failure 4
#   scores of the failed case ['1', '2', '3', '4', '5']

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-rerunfailures==16.7

cat > test_reply.py <<'PY'
import itertools

attempts = itertools.count(1)


def test_reply(record_property):
    record_property("score", next(attempts))
    assert "Lebanese" in "Which cuisine do you like?"
PY
cat > count.py <<'PY'
from xml.etree import ElementTree

suite = ElementTree.parse("junit.xml").find("testsuite")
cases = suite.findall("testcase")
print(f"tests={suite.get('tests')} failures={suite.get('failures')}")
print(f"cases {len(cases)}, without a failure {sum(case.find('failure') is None for case in cases)}")
print("scores of the failed case", [p.get("value") for p in cases[-1].iter("property")])
PY
run() {
    venv/bin/python -m pytest -q -p no:warnings --reruns 4 --junitxml junit.xml test_reply.py > log.txt || true
    tail -n 1 log.txt | sed 's/ in [0-9.]*s$//'
    venv/bin/python count.py
}

seen=$(run)
printf '%s\n' "$seen"
expected=$(cat <<'END'
1 failed, 4 rerun
tests=1 failures=1
cases 5, without a failure 4
scores of the failed case ['1', '2', '3', '4', '5']
END
)
[ "$seen" = "$expected" ]
