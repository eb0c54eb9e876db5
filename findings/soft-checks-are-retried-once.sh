#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-check 3.0.3, pytest-retry 1.7.0, pytest-rerunfailures 16.7 (Python 3.11)
# A good guess: with --retries 4 a test whose soft check (pytest-check) passes in its third attempt passes, as
# one with a plain assert does; and a test whose check always fails is one failed test.
# What happens: pytest-retry sees the failure of the check in the first attempt only: the second counts as
# passed, and its failed check comes up as an error beside it. So the test that would pass is an error, and
# the one that always fails counts as passed and as an error. pytest-rerunfailures does as expected.
# Output seen on 2026-11-29:
#   pytest-retry, test_assert_third: exit 0, 1 passed, 1 retried
#   pytest-rerunfailures, test_assert_third: exit 0, 1 passed, 2 rerun
#   pytest-retry, test_check_third: exit 1, 1 passed, 1 error, 1 retried
#   pytest-rerunfailures, test_check_third: exit 0, 1 passed, 2 rerun
#   pytest-retry, test_check_never: exit 1, 1 passed, 1 error, 1 retried
#   pytest-rerunfailures, test_check_never: exit 1, 1 failed, 4 rerun

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-check==3.0.3 pytest-retry==1.7.0 pytest-rerunfailures==16.7

cat > test_check.py <<'PY'
from pytest_check import check

attempts = []


def test_assert_third():
    attempts.append(1)
    assert len(attempts) == 3


def test_check_third():
    attempts.append(1)
    check.equal(len(attempts), 3)


def test_check_never():
    check.equal("Rome", "Oslo")
PY

run() {
  code=0
  venv/bin/python -m pytest -q -p no:cacheprovider -p "no:$3" "$2" 4 "test_check.py::$4" > output || code=$?
  printf '%s, %s: exit %s, %s\n' "$1" "$4" "$code" "$(tail -n 1 output | sed 's/ in [0-9.]*s$//')"
}
seen=$(
  for test in test_assert_third test_check_third test_check_never; do
    run pytest-retry --retries rerunfailures $test
    run pytest-rerunfailures --reruns pytest-retry $test
  done
)
printf '%s\n' "$seen"
expected=$(cat <<'END'
pytest-retry, test_assert_third: exit 0, 1 passed, 1 retried
pytest-rerunfailures, test_assert_third: exit 0, 1 passed, 2 rerun
pytest-retry, test_check_third: exit 1, 1 passed, 1 error, 1 retried
pytest-rerunfailures, test_check_third: exit 0, 1 passed, 2 rerun
pytest-retry, test_check_never: exit 1, 1 passed, 1 error, 1 retried
pytest-rerunfailures, test_check_never: exit 1, 1 failed, 4 rerun
END
)
[ "$seen" = "$expected" ]
