"""A test whose mark describes its user, and that says messages of its own between the simulated ones."""

from __future__ import annotations

import pytest

from tests.support.processes.runs import assert_ended, assert_one_line
from tests.support.repository import Repository

MARK = '@pytest.mark.personalens(persona="Mia, 34, vegetarian, allergic to nuts", wants="a table for two on Friday evening")'
BOT = """
import pytest

@pytest.fixture(scope="session")
def personalens_assistant():
    def reply(messages, context):
        text, known = messages[-1]["content"], context.demographics.get("persona", "nothing")
        day = {}["gone"] if "explode" in text else "Saturday" if "Saturday" in text else "Friday"
        return f"Booked for two on {day} at 19:00, reference QX77. I know of you: {known}."
    return reply
"""
SAMPLE = ("--personalens-sample", "1")


@pytest.fixture
def repo(empty_repo: Repository) -> Repository:
    empty_repo.write(conftest=BOT)
    return empty_repo


def test_fixed_and_simulated_turns_take_turns(repo: Repository) -> None:
    repo.write(test_mia=f"""
        import pytest

        {MARK}
        def test_books(personalens):
            assert personalens.scenario.name == "Mia"
            first = personalens.turn()
            assert "Friday" in first and "vegetarian" in first
            assert "Saturday" in personalens.say("Make that Saturday.")
            said = [m.content for m in personalens.evaluate().dialogue.messages if m.role == "user"]
            assert "Friday" in said[0] and said[1] == "Make that Saturday." and len(said) > 2
            assert "vegetarian" not in said[0]

        {MARK}
        def test_own_asserts_alone(personalens):
            assert "Friday" in personalens.say("Hi, a table for Friday?")
        """)  # fmt: skip
    result = repo.inline(*SAMPLE, "--personalens-gate", "valid >= 1", "--personalens-report", "results.json")
    result.assert_outcomes(passed=3)  # with the gate
    (item,) = repo.results()["items"]
    assert item["nodeid"].startswith("test_mia.py::test_books[books-mia-")
    assert item["evaluation"]["domains"] == ["Personas"]


def test_a_reply_that_is_wrong_fails_the_test_alone(repo: Repository) -> None:
    repo.write(test_mia=f"""
        import pytest

        {MARK}
        def test_wrong(personalens):
            assert "Monday" in personalens.say("Make it Monday.")

        {MARK}
        def test_explodes(personalens):
            personalens.say("Please explode.")

        {MARK}
        def test_goes_on(personalens):
            personalens.evaluate()
            personalens.say("Too late.")

        def test_of_the_sample(personalens):
            personalens.say("Hi")
        """)  # fmt: skip
    result = assert_ended(repo.inline(*SAMPLE), 1, failed=4)
    result.stdout.fnmatch_lines_random([
        "*assert 'Monday' in 'Booked for two on Friday*", "*KeyError*gone*",
        "*the dialogue is over: say() and turn() come before check() and evaluate()*",
        "*say() and turn() need a persona: @pytest.mark.personalens(persona=..., wants=...)*",
    ])  # fmt: skip


@pytest.mark.parametrize(
    "args", ["--personalens-gate=tcr >= 0.5", "--personalens-gate=tcr >= 0.5|-n2", "--personalens-report=r.json", "--personalens-gate=none"]
)  # fmt: skip
def test_gates_are_not_passed_by_dialogues_that_nobody_judged(repo: Repository, args: str) -> None:
    # Half an emoji, too, which no file can hold.
    mark = MARK.replace("Mia", r"Mia \ud83d")
    test = f"{mark}\ndef test_books(personalens):\n    assert personalens.turn()\n"
    repo.write(test_mia=f"import pytest\n\n{test}")
    result = (repo.run if "-n" in args else repo.inline)(*SAMPLE, *args.split("|"))
    if args.endswith("none"):
        assert_ended(result, 0)
        assert not any(result.errlines)
    else:
        why = "nothing is tested" if "report" in args else "there is nothing for the gates to decide on"
        assert_one_line(result, f"no test lets its dialogue be judged, so {why}; *")


@pytest.mark.parametrize("how", [("-n", "2"), ("-o", "personalens_parallel=4")])
def test_side_by_side_with_others_and_on_the_page(repo: Repository, how: tuple[str, str]) -> None:
    repo.write(test_mia=f"""
        import pytest

        def test_sample(personalens):
            personalens.evaluate()

        {MARK}
        def test_books(personalens):
            assert "Saturday" in personalens.say("A table on Saturday?")
            personalens.evaluate()
        """)  # fmt: skip
    report = ("--personalens-report", "r.html")
    result = repo.run("--personalens-sample", "3", "--personalens-gate", "none", *how, *report)
    result.assert_outcomes(passed=4)
    assert "Mia" in (repo.path / "r.html").read_text(encoding="utf-8")
