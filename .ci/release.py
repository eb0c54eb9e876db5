"""Says what still keeps a version from being published: ``python .ci/release.py v0.2.0``."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path


def faults(root: Path, tag: str) -> list[str]:
    """Return what is wrong, each on one line."""
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    found = (
        [] if tag == f"v{version}" else [f"pyproject.toml: the version is {version}, and the tag is {tag}"]
    )
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE):
        found.append(f"CHANGELOG.md: there is no section '## [{version}] - DATE'")
    if not re.search(
        rf'^version: "?{re.escape(version)}"?$',
        (root / "CITATION.cff").read_text(encoding="utf-8"),
        re.MULTILINE,
    ):
        found.append(f"CITATION.cff: the version is not {version}")
    names = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=True).stdout
    for name in names.decode("utf-8").split("\0"):
        if name.endswith((".md", ".toml", ".yml", ".cff", ".txt")) and not name.startswith(
            ("data/", "tests/")
        ):
            # RELEASING.md explains the placeholder, and may go on to do so.
            if "OWNER/" in (root / name).read_text(encoding="utf-8") and name != "RELEASING.md":
                found.append(f"{name}: replace OWNER with the owner of the repository")
            if old := re.findall(
                r"/pytest-personalens@v(?!" + re.escape(version) + r"\b)(\S+)",
                (root / name).read_text(encoding="utf-8"),
            ):
                found.append(f"{name}: it uses version {old[0]} of the action")
    return found


if __name__ == "__main__":
    problems = faults(Path(__file__).resolve().parents[1], sys.argv[1])
    print(*problems, sep="\n")
    sys.exit(1 if problems else 0)
