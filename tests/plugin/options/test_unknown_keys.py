"""A misspelt name of the plugin is refused, wherever pytest reads it: it must not pass as if it were not there."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

from tests.support.repository import Repository

ARGS = ("--personalens-sample=2", "--personalens-gate=none")


def refused(repo: Repository, told: str, *args: str) -> None:
    """pytest does not start with these arguments; `told` is what it says, as a pattern."""
    with pytest.raises(pytest.UsageError) as error:
        repo.settings(*args)
    assert fnmatch(error.value.args[0], f"{told} (PL101)"), error.value


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\npersonalens_baselin = b.json\n"),
        ("tox.ini", "[pytest]\npersonalens_baselin = b.json\n"),
        ("setup.cfg", "[tool:pytest]\npersonalens_baselin = b.json\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\npersonalens_baselin = 'b.json'\n"),
        ("pyproject.toml", "[tool.pytest]\npersonalens_baselin = 'b.json'\n"),
        ("pytest.toml", "[pytest]\npersonalens_baselin = 'b.json'\n"),
    ],
)
@pytest.mark.parametrize("args", [ARGS, ()], ids=["a run", "no run"])
def test_in_a_file(repo: Repository, file: str, text: str, args: tuple[str, ...]) -> None:
    (repo.path / file).write_text(text)
    refused(repo, f"{file}: unknown key 'personalens_baselin'; did you mean personalens_baseline?", *args)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("personalens_threshhold", "personalens_threshold"),
        ("personalens-gate", "personalens_gate"),
        ("PERSONALENS_GATE", "personalens_gate"),
        ("personalens_price", "personalens_prices"),
        ("personalens", "personalens_*"),
        ("personalens_save_baseline", "personalens_baseline"),
    ],
)
def test_on_the_command_line(repo: Repository, key: str, meant: str) -> None:
    refused(repo, f"-o: unknown key '{key}'; did you mean {meant}?", *ARGS, "-o", f"{key}=1")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "PERSONALENS_GATE",
            "no option is read from the environment; give --personalens-gate, or unset the *",
        ),
        (
            "PERSONALENS_TURN_TIMEOUT",
            "no option is read from the environment; give personalens_turn_timeout, *",
        ),
        ("PERSONALENS_CACHEDIR", "unknown variable; did you mean PERSONALENS_CACHE_DIR? Or unset it"),
    ],
)
def test_in_the_environment(repo: Repository, monkeypatch: pytest.MonkeyPatch, name: str, told: str) -> None:
    monkeypatch.setenv("PERSONALENS_BOT_URL", "https://a.example")  # one of the user's own
    assert repo.settings(*ARGS).sample == 2
    monkeypatch.setenv(name, "1")
    refused(repo, f"{name}: {told}", *ARGS)


def test_as_a_mark(repo: Repository) -> None:
    repo.write(
        test_it="""
        import pytest

        @pytest.mark.personalens_p(4)
        def test_it(personalens):
            personalens.check()
    """
    )
    result = repo.inline(*ARGS, "-W", "ignore")
    assert result.ret == 2
    told = "personalens: test_it.py::test_it: unknown mark 'personalens_p'; did you mean personalens?"
    result.stdout.fnmatch_lines([told])
    (repo.path / "pytest.ini").write_text("[pytest]\nmarkers = personalens_p: a mark of their own\n")
    assert repo.inline(*ARGS).ret == 0


def test_a_key_of_another_plugin_is_its_own(repo: Repository) -> None:
    conftest = repo.path / "conftest.py"
    added = "\ndef pytest_addoption(parser):\n    parser.addini('personalens_extra_colour', 'x')\n"
    conftest.write_text(conftest.read_text() + added)
    assert repo.settings(*ARGS, "-o", "personalens_extra_colour=red").sample == 2
