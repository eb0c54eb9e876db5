"""What is built: the page of the package index, and the files of the wheel and of the sdist."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pytest

from tests.support.repository import ROOT

pytest.importorskip("hatchling", reason="hatchling is a development dependency")
pytest.importorskip("hatch_fancy_pypi_readme", reason="hatch-fancy-pypi-readme is a development dependency")

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
NAME = f"pytest_personalens-{VERSION}"
#: Windows takes 259 characters. A virtual environment in a folder of a user needs about half of them.
LONGEST = 130
MAX_SIZE = 10_000_000
RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")


class Built(NamedTuple):
    wheel: Path
    sdist: Path

    def metadata(self) -> Message:
        with zipfile.ZipFile(self.wheel) as wheel:
            return Parser().parsestr(wheel.read(f"{NAME}.dist-info/METADATA").decode("utf-8"))


def build(source: Path, folder: Path, *targets: str) -> Built:
    words = [word for target in targets for word in ("-t", target)]
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *words]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    return Built(folder / f"{NAME}-py3-none-any.whl", folder / f"{NAME}.tar.gz")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(ROOT, tmp_path_factory.mktemp("dist"), "wheel", "sdist")


@pytest.fixture(scope="module")
def tracked() -> set[str]:
    git = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False)
    if git.returncode:
        pytest.skip("this is no checkout")
    return {name for name in git.stdout.decode("utf-8").split("\0") if name and (ROOT / name).exists()}


@pytest.mark.slow
def test_the_index_takes_the_files_and_is_told_what_they_are(built: Built) -> None:
    pytest.importorskip("twine", reason="twine is a development dependency")
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = built.metadata()
    heads = {
        "Version": VERSION, "Requires-Python": ">=3.11", "License-Expression": "Apache-2.0 AND CC-BY-4.0",
    }  # fmt: skip
    assert {name: told[name] for name in heads} == heads
    urls = dict(line.split(", ") for line in told.get_all("Project-URL", []))
    assert {"Homepage", "Documentation", "Repository", "Issues", "Changelog", "Security"} == set(urls)
    assert all(url.startswith("https://github.com/OWNER/pytest-personalens") for url in urls.values())


@pytest.mark.slow
def test_every_link_of_the_page_of_the_index_leads_somewhere(built: Built, tracked: set[str]) -> None:
    """The page has no files beside it, so its links are absolute, and lead to files of the version's tag."""
    markdown = pytest.importorskip("readme_renderer.markdown", reason="readme-renderer[md] is not installed")
    page = markdown.render(built.metadata().get_payload())
    assert page is not None, "it can be rendered"
    links = re.findall(r'(?:href|src)="([^"]+)"', page)
    assert [link for link in links if not re.match(r"https://|#", link)] == []
    hosts = r"(?:raw\.githubusercontent\.com/OWNER/pytest-personalens/|github\.com/OWNER/pytest-personalens/blob/)"
    of_files = re.compile(rf"https://{hosts}v{re.escape(VERSION)}/([^#]+)")
    files = [found[1] for link in links if (found := of_files.fullmatch(link.partition("#")[0]))]
    assert len(files) > 5
    folders = {f"{folder}/" for name in tracked for folder in PurePosixPath(name).parents}
    assert set(files) <= tracked | folders
    pictures = re.findall(r'<img[^>]*src="([^"]+)"', page)
    assert pictures
    assert all(link.startswith("https://raw.githubusercontent.com/") for link in pictures)
    relative = re.findall(r"\]\((?!https?:|#)[^)]+\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(files) >= len(relative), "each relative link of README.md became one of these"


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(built: Built, tracked: set[str]) -> None:
    info = f"{NAME}.dist-info/"
    package = {name for name in tracked if name.startswith("pytest_personalens/")}
    with zipfile.ZipFile(built.wheel) as wheel:
        files = set(wheel.namelist())
    assert {name for name in files if not name.startswith(info)} == package
    assert {f"{info}licenses/LICENSE", f"{info}licenses/data/LICENSE", f"{info}entry_points.txt"} <= files
    assert "pytest_personalens/py.typed" in files
    assert max(map(len, files)) <= LONGEST, "it can be installed where paths are short"
    assert built.wheel.stat().st_size < MAX_SIZE


@pytest.mark.slow
def test_the_sdist_holds_all_and_gives_the_same_wheel(
    built: Built, tracked: set[str], tmp_path: Path
) -> None:
    with tarfile.open(built.sdist) as sdist:
        files = {member.name.partition("/")[2] for member in sdist if member.isfile()}
        assert files - {"PKG-INFO"} == tracked
        sdist.extractall(tmp_path, filter="data")
    source = tmp_path / NAME
    again = build(source, tmp_path, "wheel")
    assert again.wheel.read_bytes() == built.wheel.read_bytes()
    tests = (
        "tests/core/test_values.py", "tests/plugin/cli/test_ci_jobs.py", "-k", "scenario or schema or page or expression",
    )  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")]),
    }
    subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)


def test_every_file_can_be_checked_out_on_every_system(tracked: set[str]) -> None:
    """Windows and macOS ignore case; Windows has names and characters that are no file's."""
    folded = sorted(name.casefold() for name in tracked)
    assert [a for a, b in itertools.pairwise(folded) if a == b] == []
    parts = {part for name in tracked for part in PurePosixPath(name).parts}
    assert [p for p in parts if RESERVED.fullmatch(p) or re.search(r'[<>:"|?*\\]|[. ]$', p)] == []
    assert max(map(len, tracked)) <= LONGEST


def test_every_text_has_the_same_line_ends_on_every_system(tracked: set[str]) -> None:
    """Digests are taken of bytes, so a checkout must not change them."""
    git = ["git", "-C", str(ROOT), "ls-files", "--eol", "-z"]
    done = subprocess.run(git, capture_output=True, check=True).stdout.decode("utf-8")
    kinds = [line.split() for line in done.split("\0") if line]
    assert {kind[0] for kind in kinds} <= {"i/lf", "i/none", "i/-text"}
    assert all("eol=lf" in kind[2:4] or kind[0] == "i/-text" for kind in kinds)


def test_what_keeps_a_version_from_being_published_is_told(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nversion = "1.2.3"\nhome = "https://github.com/OWNER/x"\n',
        "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n",
        "CITATION.cff": "version: 1.2.2\n",
        "page.md": "uses: acme/pytest-personalens@v1.2.2\n",
        "RELEASING.md": "Replace OWNER/.\n",
        ".ci/release.py": (ROOT / ".ci/release.py").read_text(encoding="utf-8"),
    }

    def told(tag: str) -> tuple[int, list[str]]:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        for command in (["init", "-q"], ["add", "-A"]):
            subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
        release = [sys.executable, str(tmp_path / ".ci/release.py"), tag]
        done = subprocess.run(release, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.split("\n")[:-1]

    code, lines = told("v1.2.4")
    assert code == 1
    assert lines == [
        "pyproject.toml: the version is 1.2.3, and the tag is v1.2.4",
        "CHANGELOG.md: there is no section '## [1.2.3] - DATE'",
        "CITATION.cff: the version is not 1.2.3",
        "page.md: it uses version 1.2.2 of the action",
        "pyproject.toml: replace OWNER with the owner of the repository",
    ]
    files = {name: text.replace("1.2.2", "1.2.3") for name, text in files.items()} | {
        "pyproject.toml": files["pyproject.toml"].replace("OWNER", "acme"),
        "CHANGELOG.md": "## [1.2.3] - 2030-01-02\n",
    }
    code, lines = told("v1.2.3")
    assert (code, [line for line in lines if line]) == (0, [])
