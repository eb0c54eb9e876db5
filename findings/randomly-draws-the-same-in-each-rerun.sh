#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-randomly 5.1.0, pytest-rerunfailures 16.7, pytest-repeat 0.9.4 (Python 3.11)
# A good guess: a test that draws a user at random and fails draws another when pytest-rerunfailures runs it
# again, so that 20 attempts find one of ten users that passes; and --count 20 of pytest-repeat draws anew
# each time.
# What happens: pytest-randomly sets the seed from the name of the test before each attempt, so that each
# draws the same user and the test fails 21 times; the repeated test has 20 names and draws many. Without
# pytest-randomly a rerun draws anew. So a rerun under it tells a flaky assistant, and never an unlucky draw.
# Output seen on 2026-11-29:
#   reruns: attempts 21, different draws 1
#   reruns without pytest-randomly: attempts 21, different draws 21
#   repeats: attempts 21, different draws 21

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-randomly==5.1.0 pytest-rerunfailures==16.7 pytest-repeat==0.9.4

cat > test_draw.py <<'PY'
import random


def test_draw():
    print("drew", random.randrange(1_000_000))
    raise AssertionError
PY

run() {
  venv/bin/python -m pytest -q -p no:cacheprovider "${@:2}" test_draw.py > output || true
  printf '%s: attempts %s, different draws %s\n' "$1" "$(grep -c '^drew' output)" "$(grep '^drew' output | sort -u | wc -l | tr -d ' ')"
}
seen=$(
  run 'reruns' -p randomly --reruns 20
  run 'reruns without pytest-randomly' -p no:randomly --reruns 20
  run 'repeats' --count 21
)
printf '%s\n' "$seen"
expected=$(cat <<'END'
reruns: attempts 21, different draws 1
reruns without pytest-randomly: attempts 21, different draws 21
repeats: attempts 21, different draws 21
END
)
[ "$seen" = "$expected" ]
