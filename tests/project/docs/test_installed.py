"""What a plain pytest run pays for the plugin, and what a newcomer meets: the example project and the docs."""

from __future__ import annotations

import html
import re
import shlex
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.options.option_table import OPTIONS
from pytest_personalens.plugin import hookspecs
from tests.support import reference
from tests.support.processes.runs import run_project
from tests.support.repository import Repository
from tests.support.servers.endpoint import Endpoint

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def test_a_plain_run_loads_nothing_heavy(empty_repo: Repository) -> None:
    empty_repo.write(
        test_plain="""
        import sys

        def test_plain():
            ours = {m for m in sys.modules if m.startswith("pytest_personalens")}
            assert {m.split(".")[1] for m in ours if "." in m} == {"plugin", "core"}
            assert not {"pydantic", "boto3", "botocore", "asyncio", "tomllib"} & set(sys.modules)
        """
    )
    empty_repo.run_fresh("-p", "no:anyio", "-p", "no:xdist").assert_outcomes(passed=1)


def test_a_replay_does_not_load_boto3(repo: Repository) -> None:
    asks = "    assert 'botocore' not in sys.modules\n"
    repo.write(test_bot=f"import sys\ndef test_bot(personalens):\n    personalens.check()\n{asks}")
    repo.run_fresh("--personalens-sample", "1").assert_outcomes(passed=1)


@pytest.mark.parametrize("bot", ["remembers", "forgets", "contradicts", "name-drops"])
def test_the_example_project_passes_with_the_good_bot_only(
    empty_repo: Repository, monkeypatch: pytest.MonkeyPatch, bot: str
) -> None:
    project, left = empty_repo.path / "chatbot", shutil.ignore_patterns("__pycache__", ".pytest_cache")
    shutil.copytree(ROOT / "example_project", project, ignore=left)
    monkeypatch.chdir(project)
    monkeypatch.setenv("HELPBOT", bot)
    empty_repo.with_codes = True
    result = empty_repo.run("--personalens-sample", "30", "-n", "2")
    assert (result.ret == 0) == (bot == "remembers"), result.stdout
    if bot == "forgets":
        shown = result.stdout.str()
        page = (ROOT / "docs/how-to/read-a-failing-run.md").read_text(encoding="utf-8")
        moving = (ROOT / "docs/images/terminal.svg").read_text(encoding="utf-8")
        rows = [html.unescape(re.sub("<[^>]*>", "", row)) for row in re.findall("<text.*?</text>", moving)]
        assert rows[0] == "$ HELPBOT=forgets make demo"
        assert f"```console\n{rows[0][2:]} " in (ROOT / "README.md").read_text(encoding="utf-8")
        picture = page.split(f"{rows[0]}\n")[1].split("```")[0].splitlines()
        # Of the picture, what does not depend on the width of a terminal or on the time.
        for line in (*picture, *(row for row in rows if row.startswith(("E   ", "games-", "    ", "gate ")))):
            assert line in shown or line == "...", line


def test_the_generated_reference_is_up_to_date() -> None:
    page = reference.options_page()
    assert (ROOT / "docs/reference/options.md").read_text(encoding="utf-8") == page, "run: make reference"
    assert all(f"`{o.ini}`" in page or re.search(f"`{o.long}[` ]", page) for o in OPTIONS)


def test_the_committed_records_are_what_a_fresh_run_gives(tmp_path: Path) -> None:
    """Who changes what the embedded agents say must raise their identity, or old records would pass for new."""
    project, left = tmp_path / "chatbot", shutil.ignore_patterns("__personalens__", "__pycache__")
    shutil.copytree(ROOT / "example_project", project, ignore=left)
    done = run_project(project, "--personalens-sample", "30", "--personalens-record=new")
    assert done.returncode == 0, done.stdout
    fresh, committed = (
        {p.name: p.read_bytes() for p in (folder / "tests/__personalens__/test_helpbot").iterdir()}
        for folder in (project, ROOT / "example_project")
    )
    assert fresh == committed, "run: make records"


def test_every_fixture_and_mark_keyword_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/fixtures-and-marks.md").read_text(encoding="utf-8")
    source = (ROOT / "pytest_personalens/plugin/fixtures/fixtures.py").read_text(encoding="utf-8")
    fixtures = re.findall(r"@pytest\.fixture(?:\(.*\))?\ndef (personalens\w*)\(", source)
    assert len(fixtures) == 7
    assert all(f"| `{name}` |" in page for name in fixtures)
    assert all(f"`{d.short.replace('-', '_')}`" in page for d in Dimension)


def test_every_hook_is_in_the_reference_and_in_a_how_to() -> None:
    reference = (ROOT / "docs/reference/hooks.md").read_text(encoding="utf-8")
    guides = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs/how-to").rglob("*.md"))
    for name in (n for n in vars(hookspecs) if n.startswith("pytest_personalens_")):
        assert f"`{name}`" in reference
        assert f"def {name}(" in guides, name


#: Pages whose commands read a whole dataset or several.
_LONG: Final = ("check-a-dataset", "choose-scenarios", "memory-benchmarks", "reproduce-the-paper")


def _marked(page: Path) -> Any:
    name = page.relative_to(ROOT).as_posix()
    return pytest.param(page, id=name, marks=pytest.mark.slow if page.stem in _LONG else ())


@pytest.mark.parametrize("page", [*map(_marked, PAGES), _marked(ROOT / "data/README.md")])
def test_the_code_in_the_docs_runs(
    page: Path, empty_repo: Repository, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block that begins with ``# file: NAME`` is a file; one that begins with ``$ pytest`` or ``$ python``
    is run with these files. One whose output begins with ``ERROR:`` shows what the command refuses.

    A model behind the OpenAI protocol on this machine is one on loopback, and needs no key.
    """
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("OPENAI_BASE_URL")
    text = page.read_text(encoding="utf-8")
    runs = 0
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        first, _, rest = block.partition("\n")
        if named := re.fullmatch(r"# file: (\S+)", first):
            path = empty_repo.path / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rest, encoding="utf-8")
        elif first.startswith(("$ pytest", "$ python ", "$ personalens ")):
            command = [re.sub("^data/", f"{ROOT}/data/", word) for word in shlex.split(first)[1:]]
            command = [re.sub("http://localhost:(11434|8080)/", f"{endpoint.url}/", word) for word in command]
            run = {"pytest": empty_repo.run, "personalens": empty_repo.command, "python": empty_repo.python}
            result = run[command[0]](*command[1:])
            expected = [line for line in rest.splitlines() if line.strip()]
            refused = rest.startswith("ERROR: ")
            shown = result.stderr if refused else result.stdout
            shown.fnmatch_lines([re.sub(r"\[", "[[]", line).replace("...", "*") for line in expected])
            assert result.ret in ((4,) if refused else (0, 1))
            runs += 1
    assert runs == len(re.findall(r"^\$ p(?:y|ersonalens )", text, re.MULTILINE))


def test_links_in_the_docs_lead_somewhere() -> None:
    others = ("CONTRIBUTING.md", "llms.txt", "SECURITY.md", "CODE_OF_CONDUCT.md", "RELEASING.md")
    for page in [*PAGES, *(ROOT / name for name in others), *(ROOT / "data").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text(encoding="utf-8")):
            path, _, section = target.partition("#")
            found = page.parent / path if path else page
            assert found.exists(), f"{page}: {target}"
            assert not section or section in sections(found), f"{page}: {target}"


def sections(page: Path) -> set[str]:
    """The ids that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_no_folder_of_the_docs_nor_that_of_the_data_has_more_than_twelve_entries() -> None:
    folders = [ROOT / "data", ROOT / "docs", *(path for path in (ROOT / "docs").rglob("*") if path.is_dir())]
    assert {str(folder): n for folder in folders if (n := len(list(folder.iterdir()))) > 12} == {}
