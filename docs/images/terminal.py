"""Makes the moving picture of a terminal from a real run, as an SVG: ``python docs/images/terminal.py``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
COMMAND: Final = "HELPBOT=forgets make demo"
#: The first lines of the parts of the output that are shown, each with the lines behind it that are shown too.
SHOWN: Final = (
    ("personalens: 30", 0),
    (r"[.F]+ +\[100%\]", 0),
    ("=+ FAILURES", 16),
    ("gate p:", 2),
    ("FAILED", 1),
)
_COLUMNS: Final = 88
_CELL: Final = (8.4, 19)
_MARGIN: Final = 16
#: When the parts appear, in seconds: the run takes as long as it took here on two cores.
_TYPED, _STARTED, _RUN, _EACH = 1.2, 1.6, 3.4, 0.08
_COLOURS: Final = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "36": "#79c0ff"}
_STYLE: Final = """
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d6deeb; white-space: pre }
.b { font-weight: 700 }
.l { animation: show .01s both }
.c { animation: slide 1s both }
@keyframes show { from { opacity: 0 } }
@keyframes slide { to { transform: translateX(748px) } }
@media (prefers-reduced-motion: reduce) { .l { animation: none } .c { display: none } }
"""


def output() -> list[str]:
    """Return the coloured lines that the command prints, without those of make."""
    settings = {"HELPBOT": "forgets", "COLUMNS": "80", "PY_COLORS": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--personalens-sample",
        "30",
        "-n",
        "2",
    ]
    told = subprocess.run(
        command,
        cwd=ROOT / "example_project",
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode != 1:
        sys.exit(told.stdout + told.stderr)
    return told.stdout.splitlines()


def plain(line: str) -> str:
    """Return a line without its colours."""
    return re.sub(r"\x1b\[[\d;]*m", "", line)


def excerpt(lines: list[str]) -> list[str]:
    """Return the lines that are shown, with an ellipsis where some are left out."""
    found: list[str] = []
    end = 0
    for start, more in SHOWN:
        first = next(n for n, line in enumerate(lines) if n >= end and re.match(start, plain(line)))
        if end and first > end and any(plain(line).strip() for line in lines[end:first]):
            found.append("…")
        end = first + more + 1
        found += [part for line in lines[first:end] for part in _wrapped(line)]
    return found


def _wrapped(line: str) -> list[str]:
    """Return the lines of a terminal for a line; only those without colours are ever too long."""
    if len(plain(line)) <= _COLUMNS:
        return [line]
    text = plain(line)
    return [text[n : n + _COLUMNS] for n in range(0, len(text), _COLUMNS)]


def picture(lines: list[str]) -> str:
    """Return the SVG."""
    wide, high = _CELL
    width, height = _MARGIN * 2 + wide * _COLUMNS, _MARGIN * 2 + high * (len(lines) + 1)
    body = [_row(0, f"\x1b[32m$\x1b[0m {COMMAND}", 0), _cover(0, 2, len(COMMAND), 0.3, _TYPED)]
    at = _STARTED
    for n, line in enumerate(lines, 1):
        progress = re.fullmatch(r"([.F]+) +\[100%\]", plain(line))
        body.append(_row(n, line, at))
        if progress:
            body.append(_cover(n, 0, len(progress[1]), at, _RUN))
            at += _RUN + 0.3
        at += _EACH
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
        f' role="img"><title>{COMMAND}</title><style>{_STYLE}</style>'
        f'<clipPath id="in"><rect width="{width:g}" height="{height:g}" rx="8"/></clipPath><g clip-path="url(#in)">'
        f'<rect width="{width:g}" height="{height:g}" fill="#0d1117"/>\n' + "\n".join(body) + "\n</g></svg>\n"
    )


def _row(number: int, line: str, at: float) -> str:
    wide, high = _CELL
    parts, style, column = [], set[str](), 0
    for piece in re.split(r"(\x1b\[[\d;]*m)", line):
        if codes := re.fullmatch(r"\x1b\[([\d;]*)m", piece):
            for code in codes[1].split(";"):
                style = set() if code in ("", "0") else style | {code}
        elif piece:
            fill = next((f' style="fill:{_COLOURS[code]}"' for code in style if code in _COLOURS), "")
            bold = ' class="b"' if "1" in style else ""
            length = f' textLength="{wide * len(piece):g}" lengthAdjust="spacingAndGlyphs"'
            parts.append(
                f'<tspan x="{_MARGIN + wide * column:g}"{fill}{bold}{length}>{escape(piece)}</tspan>'
            )
            column += len(piece)
    y = _MARGIN + high * (number + 0.75)
    return f'<text class="l" style="animation-delay:{at:.2f}s" y="{y:g}" xml:space="preserve">{"".join(parts)}</text>'


def _cover(number: int, column: int, cells: int, at: float, seconds: float) -> str:
    """Return what hides the rest of a line and moves off it, cell by cell."""
    wide, high = _CELL
    moves = f"animation-delay:{at:.2f}s;animation-duration:{seconds * 748 / (wide * cells):.2f}s"
    steps = f"animation-timing-function:steps({748 / wide:.0f})"
    x, y = _MARGIN + wide * column, _MARGIN + high * number
    return f'<rect class="c" style="{moves};{steps}" x="{x:g}" y="{y:g}" width="748" height="{high}" fill="#0d1117"/>'


if __name__ == "__main__":
    (ROOT / "docs/images/terminal.svg").write_text(picture(excerpt(output())), encoding="utf-8")
