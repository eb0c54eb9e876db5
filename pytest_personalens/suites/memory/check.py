"""What check-dataset tells about arcs: how many there are of each kind, and every fault."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.suite import DataCheck, Finding
from pytest_personalens.suites.memory.arcs import KINDS
from pytest_personalens.suites.memory.dataset import embedded_arcs
from pytest_personalens.suites.memory.files import examine_arcs

if TYPE_CHECKING:
    from pytest_personalens.suites.memory.arcs import Arc

#: The name of the embedded arcs.
EMBEDDED: Final = "memory"
#: The rules, by the part of an arc that they are about; ``file`` is for all that cannot be read.
_RULES: Final = ("file", "id", "person", "domain", "sessions", "test")
_HAS_ARCS: Final = re.compile(r"^\s*(?:\[\[\s*arcs|arcs\s*=)", re.MULTILINE)


def check_data(spec: str) -> DataCheck | None:
    """Return what there is to tell about arcs, or None if the spec names no file or folder of arcs.

    A spec is ``memory`` (the embedded arcs), or the path of a file or a folder.
    """
    arcs: list[Arc] = []
    findings: list[Finding] = []
    path = Path(spec)
    if spec == EMBEDDED:
        dataset = embedded_arcs("")
        arcs = [dataset.load(ref) for user in dataset.users() for ref in dataset.refs(user)]
    else:
        files = [file for file in (sorted(path.glob("*.toml")) or [path]) if _has_arcs(file)]
        if not files:
            return None
        for file in files:
            found, errors = examine_arcs(file, ())
            arcs += found.values()
            findings += [Finding(_rule(e.field), file.name, e.field, e.problem) for e in errors]
    kinds = Counter(arc.kind for arc in arcs)
    counts: dict[str, int] = {
        "arcs": len(arcs),
        **{str(kind): kinds[kind] for kind in KINDS},
        "people": len({arc.user for arc in arcs}),
        "sessions": sum(len(arc.sessions) for arc in arcs),
    }
    return DataCheck(
        dataset=path.stem,
        rows=[(name, f"{count:,}", "") for name, count in counts.items()],
        findings=findings,
        rules=len(_RULES),
        report={"dataset": path.stem, **counts, "findings": [asdict(one) for one in findings]},
    )


def _has_arcs(file: Path) -> bool:
    try:
        return file.suffix == ".toml" and bool(
            _HAS_ARCS.search(file.read_text(encoding="utf-8", errors="replace"))
        )
    except OSError:
        return False


def _rule(field: str) -> str:
    part = next((part for part in field.split(".")[1:] if not part.isdigit()), "")
    return part if part in _RULES else "file"
