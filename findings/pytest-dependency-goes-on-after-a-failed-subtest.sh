#!/usr/bin/env bash
# Packages: pytest 9.2.0, pytest-dependency 0.6.1 (Python 3.11)
# A good guess: a test that depends on another is skipped where that one failed, whether a plain assert failed
# in it or a subtest: pytest reports both as FAILED.
# What happens: after a failed subtest the dependent test runs, as if the first had passed. So the test of
# what an assistant remembers runs although the one that should have told it the fact is red.
# Output seen on 2026-11-29:
#   test_told_by_assert FAILED
#   test_remembers_by_assert SKIPPED
#   test_told_by_subtest FAILED
#   test_remembers_by_subtest PASSED

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check pytest==9.2.0 pytest-dependency==0.6.1

cat > test_memory.py <<'PY'
import pytest


@pytest.mark.dependency()
def test_told_by_assert():
    assert "noted" in "Sorry?"


@pytest.mark.dependency(depends=["test_told_by_assert"])
def test_remembers_by_assert():
    pass


@pytest.mark.dependency()
def test_told_by_subtest(subtests):
    with subtests.test("tells"):
        assert "noted" in "Sorry?"


@pytest.mark.dependency(depends=["test_told_by_subtest"])
def test_remembers_by_subtest():
    pass
PY
run() {
    venv/bin/python -m pytest -v --tb=no test_memory.py > log.txt || true
    grep -oE '^test_memory.py::[a-z_]+ (PASSED|FAILED|SKIPPED)' log.txt | sed 's/.*:://'
}

seen=$(run)
printf '%s\n' "$seen"
expected=$(cat <<'END'
test_told_by_assert FAILED
test_remembers_by_assert SKIPPED
test_told_by_subtest FAILED
test_remembers_by_subtest PASSED
END
)
[ "$seen" = "$expected" ]
