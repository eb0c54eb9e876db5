"""Builds the site of the documentation in build/site/, and checks it: ``python .ci/site.py [--into FOLDER]``.

The pages are also read on GitHub, where they link to files outside of docs/. The site has no such files, so a
copy of the pages is made whose links lead to the repository. The site asks no other host for anything.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
DOCS, PAGES, SITE = ROOT / "docs", ROOT / "build/site-pages", ROOT / "build/site"
#: What the generator would load from another host, so that the search runs in a page from a folder.
_FROM_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
_WORKER = ROOT / ".ci/worker_from_file.js"
_LINK = re.compile(r"(\]\()(?![a-z]+:|#|/)([^)#\s]+)(#[^)\s]*)?(?=\))")
#: What a browser fetches by itself.
_FETCHED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


def copy_pages(repository: str) -> None:
    """Copy docs/ to build/site-pages/, with links to files outside of it as links to the repository."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(DOCS, PAGES, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for page in DOCS.rglob("*.md"):

        def outside(link: re.Match[str], page: Path = page) -> str:
            target = Path(os.path.normpath(page.parent / link[2]))
            if target.is_relative_to(DOCS):
                return link[0]
            if not target.exists():
                raise SystemExit(f"{page.relative_to(ROOT)}: {link[2]}: no such file")
            kind = "tree" if target.is_dir() else "blob"
            return f"{link[1]}{repository}/{kind}/main/{target.relative_to(ROOT).as_posix()}{link[3] or ''}"

        text = _LINK.sub(outside, page.read_text(encoding="utf-8"))
        (PAGES / page.relative_to(DOCS)).write_text(text, encoding="utf-8")


def keep_at_home(site: Path) -> None:
    """Put our own script in the place of the one that the pages would load from another host."""
    shutil.copy(_WORKER, site / "assets/javascripts" / _WORKER.name)
    for file in site.rglob("*.html"):
        up = "/" if file.name == "404.html" else "../" * (len(file.relative_to(site).parts) - 1)
        text = file.read_text(encoding="utf-8")
        text = text.replace(_FROM_ELSEWHERE, f"{up}assets/javascripts/{_WORKER.name}")
        file.write_text(text, encoding="utf-8")


class _Page(HTMLParser):
    """The ids of a page, its links, and what a browser fetches to show it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids, self.links, self.fetched = set[str](), list[str](), list[str]()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.ids.add(value)
            elif (tag, name) in _FETCHED and value and ("rel", "canonical") not in attrs:
                self.fetched.append(value)
            elif (tag, name) == ("a", "href") and value:
                self.links.append(value)


def faults(site: Path) -> list[str]:
    """Return each link without a target, and each file that a page would fetch from another host."""
    pages = {file.resolve(): _Page(file) for file in site.rglob("*.html") if file.name != "404.html"}
    found = []
    for file, page in pages.items():
        where = file.relative_to(site.resolve())
        found += [f"{where}: fetches {url}" for url in page.fetched if urlsplit(url).netloc]
        for link in (*page.links, *page.fetched):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{where}: {link}: no such file")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                found.append(f"{where}: {link}: no such heading")
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    found += [f"{page}: not in the nav of mkdocs.yml" for page in listed if page not in nav]
    return found if len(pages) >= len(listed) else [*found, f"{site}: {len(pages)} pages of {len(listed)}"]


def publish(site: Path, folder: Path, version: str) -> None:
    """Put the site beside those of other versions, as X.Y/ and as latest/, and list them for the menu."""
    file = folder / "versions.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    known = [
        {"version": v["version"], "title": v["title"], "aliases": []}
        for v in known
        if v["version"] != version
    ]
    known.append({"version": version, "title": version, "aliases": ["latest"]})
    known.sort(key=lambda v: [int(n) for n in v["version"].split(".")], reverse=True)
    for name in (version, "latest"):
        shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(site, folder / name)
    file.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
    (folder / "index.html").write_text(
        '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=latest/index.html">'
        '<title>pytest-personalens</title><a href="latest/index.html">The documentation</a>\n',
        encoding="utf-8",
    )


def main() -> int:
    """Build the site, check it, and put it into a folder of versions if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="the folder of all versions, to publish")
    options = parser.parse_args()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    copy_pages(project["urls"]["Repository"])
    command = [
        sys.executable,
        "-m",
        "zensical",
        "build",
        "--strict",
        "--clean",
        "-f",
        os.fspath(ROOT / "mkdocs.yml"),
    ]
    if code := subprocess.run(command, cwd=ROOT, check=False).returncode:
        return code
    keep_at_home(SITE)
    if found := faults(SITE):
        print(*found, sep="\n")
        return 1
    if options.into:
        publish(SITE, options.into, ".".join(project["version"].split(".")[:2]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
