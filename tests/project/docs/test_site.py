"""The site of the documentation: built, without a broken link, and without a request to another host."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from selenium.webdriver.support.wait import WebDriverWait

from tests.support.browser import Page, start
from tests.support.repository import ROOT

pytestmark = pytest.mark.skipif(find_spec("zensical") is None, reason="Zensical is not installed")


def build(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, os.fspath(folder / ".ci/site.py"), *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for name in ("docs", ".ci"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("mkdocs.yml", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    for file in ROOT.iterdir():  # what the pages link to
        if not (folder / file.name).exists() and file.name != "build" and not file.name.startswith("."):
            (folder / file.name).symlink_to(file)
    built = build(folder, "--into", "versions")
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    yield from start(tmp_path_factory.mktemp("browser"))


@pytest.mark.slow
def test_a_version_lies_beside_others_and_is_the_latest(project: Path) -> None:
    versions = project / "versions"
    assert (versions / "latest/index.html").is_file()
    (one,) = json.loads((versions / "versions.json").read_text(encoding="utf-8"))
    assert (versions / one["version"] / "reference/errors.html").is_file()
    assert one["aliases"] == ["latest"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("(faq.md#nowhere)", "anchor does not exist"),
        ("(nowhere.md)", "page does not exist"),
        ("(../nowhere.md)", "../nowhere.md: no such file"),
        ("<img src='https://example.com/a.png'>", "index.html: fetches https://example.com/a.png"),
    ],
)
def test_a_broken_link_or_a_foreign_picture_is_told(project: Path, fault: str, told: str) -> None:
    file = project / "docs/README.md"
    right = file.read_text(encoding="utf-8")
    try:
        file.write_text(right + f"\n[one]{fault}\n", encoding="utf-8")
        built = build(project)
    finally:
        file.write_text(right, encoding="utf-8")
    assert built.returncode == 1, built.stdout
    assert told in built.stdout + built.stderr


#: The text of a page with that of its shadow roots, where the search shows what it finds.
SHOWN = """
const text = (root) => [...root.children].map((e) => (e.shadowRoot ? text(e.shadowRoot) : "") + (e.innerText ?? "")).join();
return text(document.body);
"""


@pytest.mark.slow
def test_the_search_works_from_a_folder_and_asks_no_other_host(project: Path, page: Page) -> None:
    chrome = page.chrome
    chrome.get_log("performance")  # type: ignore[no-untyped-call]  # what the browser asked before
    chrome.get((project / "versions/latest/index.html").as_uri())
    WebDriverWait(chrome, 60).until(lambda _: chrome.find_elements("css selector", ".md-search__button"))
    page.js("document.querySelector('.md-search__button').click()")
    time.sleep(0.5)  # the field takes the focus
    page.keys(*"baseline")
    WebDriverWait(chrome, 60).until(lambda _: "Save a baseline" in page.js(SHOWN))
    log = chrome.get_log("performance")  # type: ignore[no-untyped-call]
    events = [json.loads(entry["message"])["message"] for entry in log]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert any(url.endswith("/search.js") for url in asked)
    assert [url for url in asked if url.startswith(("http:", "https:"))] == []
