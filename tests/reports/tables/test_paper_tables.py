"""The paper's tables from stored runs: the figures against a count that knows the results files alone, the
rows, what is refused.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pytest_personalens.cli.runs.report import main
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.tables.assistants import read_rows
from pytest_personalens.reports.tables.runs import paper_rows
from pytest_personalens.results.comparison.pairs import adjust_holm
from pytest_personalens.results.stats.paired import holm
from pytest_personalens.results.summary import summarize
from pytest_personalens.results.values.results import Results, read_results, write_json
from tests.support.repository import ROOT, Repository
from tests.support.results import recount
from tests.support.results.rich_results import rich_results

#: What the figures may be off by: half of the last decimal, and what a float adds.
TOLERANCE = {2: 0.005_001, 3: 0.000_501, 0: 0}
Cells = dict[str, list[str]]
#: A figure of the recount: a number, the two between which random draws lie, or none.
Figure = float | list[float] | None


def changed(results: Results, **settings: Any) -> Results:
    return results.model_copy(update={"settings": {**results.settings, **settings}})


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs of users with one scenario each."""
    return store(tmp_path, monkeypatch, each=1)


@pytest.fixture(params=[1, 3, 10], ids=["one scenario a user", "three a user", "two users"])
def of_users(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs of users with one scenario each, with three, and runs of so few users that they have no interval."""
    return store(tmp_path, monkeypatch, each=request.param)


def store(folder: Path, monkeypatch: pytest.MonkeyPatch, *, each: int) -> Path:
    """Three runs of one kind of assistant: with all of the context and controls, by another prompt, and one
    over other scores.
    """
    monkeypatch.chdir(folder)
    for name, results in _runs(each).items():
        write_json(results, folder / name)
    return folder


@cache
def _runs(each: int) -> dict[str, Results]:
    count = 45 if each < 10 else 20
    whole = rich_results(count, trials=2, arms=("none", "D", "I", "S", "swapped"), each=each)
    other_prompt = changed(rich_results(count, each=each), assistant="module:bot", assistant_prompt="vanilla")
    return {
        "ours.json": whole,
        "theirs.json": rich_results(min(count, 40), seed="another", each=each),
        "plain.json": other_prompt,
    }


def recounted(folder: Path, *files: str) -> dict[str, dict[str, list[Figure]]]:
    """What the script that knows nothing of the package counts, once for files of the same content."""
    counts: dict[str, dict[str, list[Figure]]] = json.loads(
        _recounted(tuple((name, (folder / name).read_bytes()) for name in files))
    )
    return counts


@cache
def _recounted(files: tuple[tuple[str, bytes], ...]) -> str:
    with TemporaryDirectory() as folder:
        for name, content in files:
            (Path(folder) / name).write_bytes(content)
        command = [sys.executable, "-I", str(Path(recount.__file__)), *(name for name, _ in files)]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def printed(capsys: pytest.CaptureFixture[str], *args: str) -> list[Cells]:
    """The tables that the command prints: each a row's name -> its cells. Rows of differences are named "row
    | score".
    """
    assert main(args) == 0
    tables: list[Cells] = []
    for block in capsys.readouterr().out.split("\n\n"):
        lines = [re.split(r" {2,}", line) for line in block.splitlines()]
        if len(lines[0]) < 3 or lines[0][0]:
            lines = lines if lines and len(lines[0]) > 3 and lines[0][0] == "domain" else []
        if lines and lines[0][1] == "score":
            tables.append({f"{cells[0]} | {cells[1]}": cells[2:] for cells in lines[1:]})
        elif lines:
            tables.append({cells[0]: cells[1:] for cells in lines[1:]})
    return tables


def figures(cells: Sequence[str]) -> list[str]:
    return [number for cell in cells for number in re.findall(r"< 0\.001|[-+]?[\d,]+\.?\d*|-", cell)]


def assert_same(shown: Cells, counted: dict[str, list[Figure]]) -> None:
    ours = {name: cells for name, cells in shown.items() if not name.startswith("paper: ")}
    assert list(ours) == list(counted)
    for name, cells in ours.items():
        expected = counted[name]
        assert len(figures(cells)) == len(expected), (name, cells, expected)
        for text, value in zip(figures(cells), expected, strict=True):
            if text == "-" or value is None:
                assert (text, value) == ("-", None), name
            elif text == "< 0.001":
                assert isinstance(value, float)
                assert value < 0.001
            else:
                off = TOLERANCE[len(text.partition(".")[2])]
                assert is_near(float(text.replace(",", "")), value, off), (name, text, value)


def is_near(shown: float | None, counted: Figure, off: float) -> bool:
    """Whether a figure is the one counted, or between the two that random draws can give."""
    if shown is None or counted is None:
        return shown is counted
    least, most = counted if isinstance(counted, list) else (counted, counted)
    return least - off <= shown <= most + off


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "tables"),
    [
        (("--table", "3"), ("3", "3 differences")),
        (("--table", "12"), ("12", "12 differences")),
        (("--table", "13"), ("13",)),
        (("--table", "10"), ("10",)),
    ],
)
def test_tables_of_several_runs_are_what_a_stranger_counts(
    of_users: Path, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], tables: tuple[str, ...]
) -> None:
    counted = recounted(of_users, "ours.json", "theirs.json")
    shown = printed(capsys, *args, "ours.json", "theirs.json")
    assert len(shown) == len(tables)
    for cells, name in zip(shown, tables, strict=True):
        assert counted[name]
        assert_same(cells, counted[name])


@pytest.mark.slow
def test_table_4_is_what_a_stranger_counts(of_users: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counted = recounted(of_users, "plain.json", "ours.json")
    main_table, lifts = printed(capsys, "--table", "4", "ours.json", "plain.json")
    order = ["Vanilla", "Base", "Base + D", "Base + I", "Base + S", "Base + all", "Another user's"]
    assert set(order) == set(counted["4"])
    assert_same(main_table, {name: counted["4"][name] for name in order})
    assert_same(lifts, {name: counted["4 differences"][name] for name in lifts})
    assert len(lifts) == len(counted["4 differences"]) == 24


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "name"),
    [(("4",), "figure 4"), (("4", "--kind", "all"), "figure 4 all"), (("5",), "figure 5")],
    ids=str,
)
def test_figures_are_what_a_stranger_counts(
    of_users: Path, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], name: str
) -> None:
    (cells,) = printed(capsys, "ours.json", "--figure", *args)
    assert_same(cells, recounted(of_users, "ours.json")[name])


def test_the_figures_of_a_run_and_its_lifts_are_what_a_stranger_counts(of_users: Path) -> None:
    counted = recounted(of_users, "ours.json")
    found = json.loads((of_users / "ours.json").read_text(encoding="utf-8"))
    told = {name: figure for name, figure in found["overall"]["figures"].items() if name in counted["run"]}
    assert len(told) == len(counted["run"]) == 6
    for name, figure in told.items():
        assert [figure[key] for key in ("value", "low", "high")] == pytest.approx(
            counted["run"][name], abs=1e-6
        )
    lifts = {f"{arm['name']} | {one['dimension']}": one for arm in found["arms"] for one in arm["lift"]}
    assert lifts.keys() == counted["lifts"].keys()
    for name, one in lifts.items():
        ours = [one[key] for key in ("change", "low", "high", "p", "pairs")]
        for told_figure, expected in zip(ours, counted["lifts"][name], strict=True):
            assert is_near(told_figure, expected, 2e-6), (name, told_figure, expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "users", [(), ("-o", "personalens_users=kenji,zsofia,adeola,aoife")], ids=["12 users", "four users"]
)
def test_the_tables_of_a_real_run_are_what_a_stranger_counts(
    repo: Repository, capsys: pytest.CaptureFixture[str], users: tuple[str, ...]
) -> None:
    args = (
        *users,
        "--personalens-sample=12",
        "--personalens-gate=none",
        "--personalens-dimensions=tc,p,p-turns",
    )
    assert (
        repo.inline(*args, "--personalens-control", "ablation", "--personalens-report", "all.json").ret == 0
    )
    assert repo.inline(*args, "-o", "personalens_context=none", "--personalens-report", "none.json").ret == 0
    capsys.readouterr()
    counted = recounted(repo.path, "all.json", "none.json")
    for cells, name in zip(
        printed(capsys, "--table", "3", "all.json", "none.json"), ("3", "3 differences"), strict=True
    ):
        assert_same(cells, counted[name])
    main_table, lifts = printed(capsys, "--table", "4", "all.json")
    assert_same(main_table, {name: counted["4"][name] for name in main_table if not name.startswith("paper")})
    assert_same(lifts, {name: counted["4 differences"][name] for name in lifts})
    assert len(lifts) == len(counted["4 differences"]) == 16
    (turns,) = printed(capsys, "--figure", "5", "all.json")
    assert turns
    assert_same(turns, counted["figure 5"])


def test_the_reply_to_the_goodbye_is_no_turn_of_figure_5(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads((stored / "theirs.json").read_text(encoding="utf-8"))
    dialogues = [
        i["evaluation"]
        for i in found["items"]
        if not i["evaluation"]["cause"] and i["evaluation"]["kind"] == "single"
    ]
    assert {d["dialogue"]["end"] for d in dialogues} == {"user"}
    replies = [sum(m["role"] == "assistant" for m in d["dialogue"]["messages"]) for d in dialogues]
    (cells,) = printed(capsys, "theirs.json", "--figure", "5")
    counts = [int(cell.rpartition("(")[2].rstrip(")")) for cell in cells["SD, all domains"] if cell]
    assert counts == [sum(n - 1 >= turn for n in replies) for turn in range(1, max(replies))]


@pytest.mark.slow
def test_the_rows_of_the_paper_are_printed_as_there(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = {
        "3": ("Claude 3 Sonnet", ["95.98", "2.13", "3.86", "4.71", "77.49", "2.01", "3.84", "4.79"]),
        "4": ("Vanilla", ["92.93", "2.16", "75.40", "2.08"]),
        "10": ("MultiWOZ", ["8,438", "0.158", "0.505", "8.345", "0.966"]),
        "12": ("Llama 3.1 70B Instruct", ["4.53", "4.91", "-", "-"]),
        "13": ("Claude 3 Sonnet", ["3,283", "4.74", "149.87", "813", "5.64", "149.32"]),
    }
    for number, (name, cells) in expected.items():
        assert printed(capsys, "ours.json", "--table", number)[0][f"paper: {name}"] == cells


def test_the_figures_of_the_paper_are_those_that_were_taken_from_it() -> None:
    facts = ROOT.parent / "shared" / "reference" / "paper_tables.json"
    if not facts.is_file():
        pytest.skip("the facts taken from the paper are not at hand")
    for key, table in json.loads(facts.read_text(encoding="utf-8")).items():
        if not key.startswith("table_"):
            continue
        ours = [
            [float(cell.replace(",", "")) for cell in row.values()]
            for row in paper_rows(int(key.removeprefix("table_"))).values()
        ]
        rows = [row[1:] for row in table["rows"]]
        assert ours == ([[row[kind] for kind in (0, 1) for row in rows]] if key == "table_13" else rows), key


@pytest.mark.slow
def test_what_is_not_as_in_the_paper_is_said_once_for_all_runs(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--table", "3", "ours.json", "theirs.json"]) == 0
    out = capsys.readouterr().out
    assert out.count("The paper's rows are of 50 official users") == 1
    assert "ours: 36 single-domain (SD) and 9 multi-domain (MD) scenarios scored." not in out, (
        "one of them could not be scored"
    )
    assert "theirs: dataset embedded 2.0, user agent " in out


@pytest.mark.slow
def test_a_difference_between_the_judges_is_said_below_the_differences(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads((stored / "theirs.json").read_text(encoding="utf-8"))
    for item in found["items"]:
        item["evaluation"]["judge"] = "another judge"
    (stored / "theirs.json").write_text(json.dumps(found), encoding="utf-8")
    assert main(["--table", "3", "ours.json", "theirs.json"]) == 0
    assert (
        "theirs beside ours: the judge was embedded-judge 2, and is another judge" in capsys.readouterr().out
    )


@pytest.mark.slow
def test_a_scenario_that_changed_in_the_dataset_is_no_pair(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads((stored / "ours.json").read_text(encoding="utf-8"))
    for name, digest in (("then", "a"), ("now", "b")):
        for item in found["items"]:
            item["content"] = digest if item["evaluation"]["user"] != "user0" else "same"
        (stored / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
    _, differences = printed(capsys, "--table", "3", "then.json", "now.json")
    assert {cells[-1] for cells in differences.values()} == {"1"}, "user0's alone"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "said"),
    [("3", "section 4.2 gives Claude 3 Sonnet a coherence of 4.86"), ("13", "the text of Appendix C gives")],
)
def test_where_the_paper_contradicts_itself_is_said(
    stored: Path, capsys: pytest.CaptureFixture[str], table: str, said: str
) -> None:
    assert main(["--table", table, "ours.json"]) == 0
    assert capsys.readouterr().out.count(f"In the paper, {said}") == 1


ROWS = "name,sd_tcr,sd_p,sd_nat,sd_coh,md_tcr,md_p,md_nat,md_coh\n"


@pytest.mark.slow
def test_rows_of_a_file_stand_between_ours_and_the_papers(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (stored / "rows.csv").write_text(ROWS + "Made up | @x,50,2,3,4,25.5,1.5,,3\n")
    (table,) = printed(capsys, "ours.json", "--table", "3", "--beside", "rows.csv")
    assert list(table)[:3] == ["this run", "Made up | @x", "paper: Claude 3 Haiku"]
    assert table["Made up | @x"] == ["50.00", "2.00", "3.00", "4.00", "25.50", "1.50", "-", "3.00"]
    assert main(["ours.json", "--table", "3", "--beside", "rows.csv", "--report", "-"]) == 0
    assert "| Made up &#124; &#64;\u200bx | 50.00 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,sd_tcr\nx,1\n", "has no column 'sd_p'; its first line must be name,sd_tcr"),
        (ROWS, "holds no row"),
        ("", "has no column 'name'"),
        (f"{ROWS}x,0.87,2,3,4,50,2,3,4\n", "line 2, sd_tcr: expected percent, as the paper has it, not 0.87"),
        (f"{ROWS}x,87,5,3,4,50,2,3,4\n", "line 2, sd_p: expected 1 to 4, not 5"),
        (f"{ROWS}x,many,2,3,4,50,2,3,4\n", "line 2, sd_tcr: expected a number, not 'many'"),
        (f"{ROWS}x,nan,2,3,4,50,2,3,4\n", "line 2, sd_tcr: expected 0 to 100, not nan"),
        (b"\xff\xfe", "not a CSV file in UTF-8"),
    ],
)
def test_rows_that_cannot_be_read(tmp_path: Path, text: str | bytes, said: str) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError) as error:
        read_rows(file)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["ours.json", "theirs.json", "plain.json"], "plain.json: a report holds one run against another; for more of them give --table or --figure"),
        (["ours.json", "--beside", "rows.csv"], "--beside: the rows are printed in Table 3; give --table 3 too"),
        (["ours.json", "--figure", "4", "--kind", "both"], "--kind: expected single, multi or all, not 'both'"),
        (["ours.json", "--kind", "all"], "--kind: it is of --figure 4 and --figure 5; give one of them too"),
        (["ours.json", "--table", "3", "--figure", "4"], "--table, --figure: give one of them"),
        (["ours.json", "--table", "8"], "--table 8: not made of a run's results: personalens check-dataset DATA --table 8"),
        (["ours.json", "--table", "5"], "--table 5: not made of a run's results: personalens agreement LABELS.jsonl"),
        (["ours.json", "--table", "2"], "--table 2: expected 3, 4, 10, 12 or 13;"),
        (["ours.json", "--figure", "3"], "--figure 3: expected 4 or 5;"),
        (["ours.json", "theirs.json", "--table", "4"], "--table 4: ours and theirs both have the row 'Base + all'; leave one of them out"),
        (["ours.json", "theirs.json", "--table", "3", "--report", "x.html"], "--report: x.html would be of one run alone; leave it or --table and --figure out"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_refused_in_one_line(
    stored: Path, capsys: pytest.CaptureFixture[str], args: list[str], said: str
) -> None:
    assert main(args) == 4
    told = capsys.readouterr()
    assert told.err.startswith(f"error: {said}")
    assert told.err.count("\n") == 1


def test_table_4_is_of_one_assistant(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_json(changed(rich_results(9), assistant="bedrock:nova-lite", context=""), stored / "nova.json")
    assert main(["plain.json", "nova.json", "--table", "4"]) == 4
    assert (
        "it is of one assistant, and these runs are of bedrock:nova-lite and module:bot; give those of one"
        in capsys.readouterr().err
    )


@pytest.mark.slow
def test_runs_of_one_assistant_are_told_apart_by_their_files(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_json(changed(rich_results(9, seed="x"), assistant="module:bot"), stored / "again.json")
    shown, _ = printed(capsys, "--table", "3", "plain.json", "again.json", "ours.json")
    assert list(shown)[:3] == ["module:bot (plain)", "module:bot (again)", "ours"]


def test_dialogues_read_on_nothing_but_tc_and_p_have_no_figure_5(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = read_results(stored / "ours.json")
    kept = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
    items = [
        item.model_copy(
            update={
                "evaluation": item.evaluation.model_copy(
                    update={"verdicts": tuple(v for v in item.evaluation.verdicts if v.dimension in kept)}
                )
            }
        )
        for item in run.items
    ]
    made = summarize(
        items, settings=run.settings, dataset=run.dataset, requested=run.requested, drawn=run.drawn
    )
    write_json(made, stored / "ours.json")
    assert main(["ours.json", "--figure", "5"]) == 0
    assert (
        "Nothing was read turn by turn: run with --personalens-dimensions tc,p,p-turns."
        in capsys.readouterr().out
    )


def test_holms_adjusted_p_is_what_statsmodels_computes() -> None:
    multitest = pytest.importorskip(
        "statsmodels.stats.multitest", reason="statsmodels is a development dependency"
    )
    ps = [0.04, 0.001, 0.3, 0.02, 0.02, 1.0, 0.0005]
    assert adjust_holm(ps) == pytest.approx(list(multitest.multipletests(ps, method="holm")[1]))
    assert [p <= 0.05 for p in adjust_holm(ps)] == holm(ps, 0.05)
