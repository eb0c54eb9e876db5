#!/usr/bin/env bash
# Packages: pytest 9.2.0, hypothesis 6.170.17 (Python 3.11)
# A good guess: a failing subtest inside @given falsifies the example: Hypothesis shrinks it to the smallest
# number, 50, and reports that one, as it does for a plain assert.
# What happens: the subtest swallows the failure, so Hypothesis takes every example for a good one: nothing is
# shrunk, no example is named as the failing case, and each example of the run is reported on its own.
# Output seen on 2026-11-28:
#   plain: failing case named 1 times, the smallest number shown is 50: yes, more than 5 failures: no
#   subtest: failing case named 0 times, the smallest number shown is 50: no, more than 5 failures: yes

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 hypothesis==6.170.17

cat > test_numbers.py <<'PY'
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SETTINGS = settings(
    max_examples=20, database=None, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@SETTINGS
@given(number=st.integers(0, 1000))
def test_plain(number):
    assert number < 50


@SETTINGS
@given(number=st.integers(0, 1000))
def test_subtest(number, subtests):
    with subtests.test("small"):
        assert number < 50
PY
run() {
    for name in plain subtest; do
        venv/bin/python -m pytest -q -p no:cacheprovider test_numbers.py::test_$name > log.txt || true
        echo "$name: failing case named $(grep -c 'Failing test case' log.txt || true) times," \
            "the smallest number shown is 50: $(grep -q 'assert 50 < 50' log.txt && echo yes || echo no)," \
            "more than 5 failures: $([ "$(grep -c '^SUBFAILED' log.txt)" -gt 5 ] && echo yes || echo no)"
    done
}

seen=$(run)
printf '%s\n' "$seen"
expected=$(cat <<'END'
plain: failing case named 1 times, the smallest number shown is 50: yes, more than 5 failures: no
subtest: failing case named 0 times, the smallest number shown is 50: no, more than 5 failures: yes
END
)
[ "$seen" = "$expected" ]
