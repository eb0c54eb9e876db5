#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-retry 1.7.0, allure-pytest 2.16.2, pytest-json-ctrf 0.6.1 (Python 3.11)
# A good guess: a test that failed once and passed when pytest-retry ran it again is green in each report:
# passed (and flaky) in CTRF, passed with a failed retry in Allure.
# What happens: pytest counts one passed test and exits with 0, the CTRF report counts none (the test is
# "other" and not flaky), and Allure has only the first attempt: the test is failed. With pytest-rerunfailures
# both reports are as expected.
# Output seen on 2026-11-29:
#   pytest-retry: exit 0, 1 passed
#     CTRF: other, flaky False
#     Allure: failed
#   pytest-rerunfailures: exit 0, 1 passed
#     CTRF: passed, flaky True
#     Allure: failed passed

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-retry==1.7.0 allure-pytest==2.16.2 pytest-json-ctrf==0.6.1

cat > test_reply.py <<'PY'
import itertools

attempts = itertools.count(1)


def test_reply():
    assert next(attempts) == 2
PY
cat > show.py <<'PY'
import json, pathlib

results = json.loads(pathlib.Path("ctrf.json").read_text())["results"]
print("  CTRF:", *(f"{test['status']}, flaky {test.get('flaky', False)}" for test in results["tests"]))
print("  Allure:", *sorted(json.loads(path.read_text())["status"] for path in pathlib.Path("allure").glob("*-result.json")))
PY
run() {
    venv/bin/python -m pytest -q "$1" 2 --alluredir allure --clean-alluredir --ctrf ctrf.json test_reply.py > log.txt && echo "$2: exit 0, $(grep -o '1 passed' log.txt)"
    venv/bin/python show.py
}
both() {
    run --retries pytest-retry
    venv/bin/pip uninstall --quiet --yes --disable-pip-version-check pytest-retry
    venv/bin/pip install --quiet --disable-pip-version-check pytest-rerunfailures==16.7
    run --reruns pytest-rerunfailures
}

seen=$(both)
printf '%s\n' "$seen"
expected=$(cat <<'END'
pytest-retry: exit 0, 1 passed
  CTRF: other, flaky False
  Allure: failed
pytest-rerunfailures: exit 0, 1 passed
  CTRF: passed, flaky True
  Allure: failed passed
END
)
[ "$seen" = "$expected" ]
