#!/usr/bin/env bash
# Packages: pytest 9.2.0 (Python 3.11)
# A good guess: a test marked xfail(strict=True) whose only subtest fails is xfailed, as the same test with a
# plain assert is: it fails, and that was expected.
# What happens: the subtest is xfailed and the test around it counts as passed, so it fails as XPASS(strict),
# and the run is red because what was expected to fail did fail. Not strict, the two are counted as one
# xfailed and one xpassed. A test that moves its asserts into subtests cannot keep the mark.
# Output seen on 2026-11-29:
#   assert: exit 0, 1 xfailed
#   subtest: exit 1, 1 failed, 1 xfailed
#     FAILED test_xfail.py::test_by_subtest - [XPASS(strict)] the bot forgets
#   subtest, not strict: exit 0, 1 xfailed, 1 xpassed

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0

cat > test_xfail.py <<'PY'
import pytest


@pytest.mark.xfail(strict=True, reason="the bot forgets")
def test_by_assert():
    assert "Lebanese" in "Which cuisine do you like?"


@pytest.mark.xfail(strict=True, reason="the bot forgets")
def test_by_subtest(subtests):
    with subtests.test("cuisine"):
        assert "Lebanese" in "Which cuisine do you like?"


@pytest.mark.xfail(reason="the bot forgets")
def test_by_subtest_not_strict(subtests):
    with subtests.test("cuisine"):
        assert "Lebanese" in "Which cuisine do you like?"
PY

run() {
  code=0
  COLUMNS=120 venv/bin/python -m pytest -q -p no:cacheprovider "test_xfail.py::$2" > output || code=$?
  printf '%s: exit %s, %s\n' "$1" "$code" "$(tail -n 1 output | sed 's/ in [0-9.]*s$//')"
  grep '^FAILED' output | sed 's/^/  /' || true
}
seen=$(run assert test_by_assert; run subtest test_by_subtest; run 'subtest, not strict' test_by_subtest_not_strict)
printf '%s\n' "$seen"
expected=$(cat <<'END'
assert: exit 0, 1 xfailed
subtest: exit 1, 1 failed, 1 xfailed
  FAILED test_xfail.py::test_by_subtest - [XPASS(strict)] the bot forgets
subtest, not strict: exit 0, 1 xfailed, 1 xpassed
END
)
[ "$seen" = "$expected" ]
