#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-timeout 2.4.0, pytest-rerunfailures 16.7, pytest-retry 1.7.0 (Python 3.11)
# A good guess: with --timeout 1 each attempt of a test may take one second, or all attempts together; an
# attempt that takes two is ended, whichever plugin runs the test again.
# What happens: pytest-timeout sets its timer before the first attempt and takes it away after that attempt's
# call, so under pytest-rerunfailures later attempts have no limit: the test passes after two seconds. Under
# pytest-retry one timer spans the attempts until it has fired, and those after that have none. An assistant
# that is slow only when it is asked again is never stopped.
# Output seen on 2026-11-29:
#   pytest-rerunfailures, test_second_is_slow: exit 0, 1 passed, 1 rerun, timeouts 0
#   pytest-retry, test_second_is_slow: exit 0, 1 passed, 1 retried, timeouts 1
#   pytest-rerunfailures, test_third_is_slow: exit 0, 1 passed, 2 rerun, timeouts 0
#   pytest-retry, test_third_is_slow: exit 0, 1 passed, 1 retried, timeouts 1

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-timeout==2.4.0 pytest-rerunfailures==16.7 pytest-retry==1.7.0

cat > test_slow.py <<'PY'
import time

seen = []


def test_second_is_slow():
    seen.append(1)
    if len(seen) == 1:
        raise ValueError("the first attempt fails at once")
    time.sleep(2)


def test_third_is_slow():
    seen.append(1)
    time.sleep(0 if len(seen) == 1 else 2)
    assert len(seen) == 3
PY

run() {
  code=0
  venv/bin/python -m pytest -q -p no:cacheprovider --timeout 1 -p "no:$3" "$2" 3 "test_slow.py::$4" > output || code=$?
  printf '%s, %s: exit %s, %s, timeouts %s\n' "$1" "$4" "$code" "$(tail -n 1 output | sed 's/ in [0-9.]*s$//')" "$(grep -c 'Failed: Timeout' output || true)"
}
seen=$(
  for test in test_second_is_slow test_third_is_slow; do
    run pytest-rerunfailures --reruns pytest-retry $test
    run pytest-retry --retries rerunfailures $test
  done
)
printf '%s\n' "$seen"
expected=$(cat <<'END'
pytest-rerunfailures, test_second_is_slow: exit 0, 1 passed, 1 rerun, timeouts 0
pytest-retry, test_second_is_slow: exit 0, 1 passed, 1 retried, timeouts 1
pytest-rerunfailures, test_third_is_slow: exit 0, 1 passed, 2 rerun, timeouts 0
pytest-retry, test_third_is_slow: exit 0, 1 passed, 1 retried, timeouts 1
END
)
[ "$seen" = "$expected" ]
