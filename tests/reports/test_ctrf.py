"""The report of pytest-json-ctrf: scenarios and gates are tests in it."""

from __future__ import annotations

import pytest

from tests.support.repository import Repository

pytest.importorskip("ctrf", reason="pytest-json-ctrf is a development dependency")


def test_scenarios_and_gates_are_tests(pytester: pytest.Pytester) -> None:
    repo = Repository(pytester)
    repo.write(
        conftest="""
        import pytest

        @pytest.fixture
        def personalens_assistant():
            return lambda messages: "I've booked it for 19:30, reference QX77."
        """
    )
    repo.run("--personalens-sample", "2", "--personalens-gate", "p >= 3, tcr >= 0", "--ctrf", "ctrf.json")
    found = {test["name"]: test["status"] for test in repo.results("ctrf.json")["results"]["tests"]}
    gates = {name: status for name, status in found.items() if "gate[" in name}
    assert gates == {
        "personalens::gate[p]": "failed",
        "personalens::gate[tcr]": "passed",
        "personalens::gate[valid]": "passed",
    }
    assert len(found) == 5
    assert set(found.values()) == {"passed", "failed"}
