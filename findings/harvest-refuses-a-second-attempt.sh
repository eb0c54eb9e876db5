#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-harvest 1.10.5, pytest-rerunfailures 16.7 (Python 3.11)
# A good guess: a test that keeps its score in the results_bag of pytest-harvest and passes when it is run
# again passes, with the score of the last attempt.
# What happens: the bag of a test may be made once in a session: each further attempt is an error in the
# set-up, 'Internal Error', so that a flaky test which uses the bag can never pass, and fails for another
# reason than the first time.
# Output seen on 2026-11-29:
#   test_plain: exit 0, 1 passed, 1 rerun
#   test_with_bag: exit 1, 1 error, 3 rerun
#     KeyError: "Internal Error - This fixture 'results_bag' was already

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-harvest==1.10.5 pytest-rerunfailures==16.7

cat > test_score.py <<'PY'
attempts = []


def passes_second_time():
    attempts.append(1)
    assert len(attempts) == 2


def test_plain():
    passes_second_time()


def test_with_bag(results_bag):
    results_bag.score = len(attempts)
    passes_second_time()
PY

run() {
  code=0
  venv/bin/python -m pytest -q -p no:cacheprovider -W ignore --reruns 3 "test_score.py::$1" > output || code=$?
  printf '%s: exit %s, %s\n' "$1" "$code" "$(tail -n 1 output | sed 's/ in [0-9.]*s$//')"
  grep -o "^E .*Internal Error[^']*'results_bag' was already" output | head -n 1 | sed 's/^E  */  /' || true
}
seen=$(run test_plain; run test_with_bag)
printf '%s\n' "$seen"
expected=$(cat <<'END'
test_plain: exit 0, 1 passed, 1 rerun
test_with_bag: exit 1, 1 error, 3 rerun
  KeyError: "Internal Error - This fixture 'results_bag' was already
END
)
[ "$seen" = "$expected" ]
