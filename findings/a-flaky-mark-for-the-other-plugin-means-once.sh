#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-rerunfailures 16.7, pytest-retry 1.7.0 (Python 3.11)
# A good guess: the mark flaky(reruns=3), written for pytest-rerunfailures, is refused by pytest-retry, or
# repeats the test three times there as well; and flaky(retries=3), written for pytest-retry, likewise.
# What happens: both plugins know the mark and pass over the other's argument in silence: the test is tried
# once more, not three times. Who changes the plugin keeps tests that look as patient as before.
# Output seen on 2026-11-29:
#   pytest-rerunfailures, test_reruns: attempts 4
#   pytest-retry, test_reruns: attempts 2
#   pytest-rerunfailures, test_retries: attempts 2
#   pytest-retry, test_retries: attempts 4

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-rerunfailures==16.7 pytest-retry==1.7.0

cat > test_flaky.py <<'PY'
import pytest

attempts = []


@pytest.mark.flaky(reruns=3)
def test_reruns():
    attempts.append(1)
    assert not attempts, f"attempt {len(attempts)}"


@pytest.mark.flaky(retries=3)
def test_retries():
    attempts.append(1)
    assert not attempts, f"attempt {len(attempts)}"
PY

run() {
  venv/bin/python -m pytest -q -p no:cacheprovider -p "no:$2" --strict-markers "test_flaky.py::$3" > output || true
  printf '%s, %s: %s\n' "$1" "$3" "$(grep -o 'attempt [0-9]*$' output | tail -n 1 | sed 's/attempt/attempts/')"
}
seen=$(
  for test in test_reruns test_retries; do
    run pytest-rerunfailures pytest-retry $test
    run pytest-retry rerunfailures $test
  done
)
printf '%s\n' "$seen"
expected=$(cat <<'END'
pytest-rerunfailures, test_reruns: attempts 4
pytest-retry, test_reruns: attempts 2
pytest-rerunfailures, test_retries: attempts 2
pytest-retry, test_retries: attempts 4
END
)
[ "$seen" = "$expected" ]
