"""Draws the diagrams of the documentation as SVG: ``python docs/images/diagrams.py``."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).resolve().parent
_FILLS: Final = {"": "#eef2ff", "yours": "#fff4d6", "kept": "#e3f6e8", "bad": "#fde8e8"}
_HEIGHT: Final = 46
_STYLE: Final = """
text { font: 14px system-ui, sans-serif; fill: #1f2430; text-anchor: middle }
.s { font-size: 12px; fill: #4b5263 }
rect { stroke: #5b6478; rx: 6 }
path { stroke: #5b6478; fill: none; stroke-width: 1.5; marker-end: url(#tip) }
"""


class Box(NamedTuple):
    """A box at its middle. `kind` decides the colour; `below` is a small second line."""

    x: int
    y: int
    text: str
    below: str = ""
    kind: str = ""
    width: int = 140

    def svg(self) -> str:
        """Return the box and its text."""
        up = 4 if self.below else -5
        small = (
            f'<text class="s" x="{self.x}" y="{self.y + 15}">{escape(self.below)}</text>'
            if self.below
            else ""
        )
        return (
            f'<rect x="{self.x - self.width // 2}" y="{self.y - _HEIGHT // 2}" width="{self.width}" height="{_HEIGHT}"'
            f' fill="{_FILLS[self.kind]}"/><text x="{self.x}" y="{self.y - up}">{escape(self.text)}</text>{small}'
        )


class Arrow(NamedTuple):
    """A path through points, the last of which has the tip, with a word at `at`."""

    points: str
    word: str = ""
    at: tuple[int, int] = (0, 0)

    def svg(self) -> str:
        """Return the line and its word."""
        word = (
            f'<text class="s" x="{self.at[0]}" y="{self.at[1]}">{escape(self.word)}</text>'
            if self.word
            else ""
        )
        return f'<path d="M{self.points}"/>{word}'


FLOW: Final = (
    Box(80, 100, "Dataset", "people and tasks"),
    Arrow("150 100 184 100", "draw", (167, 92)),
    Box(255, 100, "Scenario", "user, task, situation"),
    Arrow("325 100 369 100"),
    Box(440, 40, "User agent", "says the next turn"),
    Arrow("425 63 425 75"), Arrow("455 75 455 63"),
    Box(440, 100, "Dialogue", "until the user ends it"),
    Arrow("425 125 425 137"), Arrow("455 137 455 125"),
    Box(440, 162, "Your assistant", "replies", kind="yours"),
    Arrow("510 100 569 100"),
    Box(640, 100, "Judge", "a verdict a reading"),
    Arrow("710 100 734 100"),
    Box(805, 100, "Results", "means, intervals"),
    Arrow("805 123 805 160"),
    Box(805, 185, "Gates", "pass or fail the run"),
    Arrow("735 185 712 185"),
    Box(640, 185, "Reports", "terminal, page, JSON"),
    Box(640, 40, "Record", "replayed, not asked again", kind="kept", width=164),
    Arrow("558 40 512 40"), Arrow("640 63 640 76"),
)  # fmt: skip
RECORDS: Final = (
    Box(95, 50, "An item starts", "its scenario is drawn"),
    Arrow("165 50 214 50"),
    Box(295, 50, "The user's turn", "from the record, if it fits", "kept", 160),
    Arrow("375 50 425 50"),
    Box(505, 50, "Your assistant replies", "asked in every run", "yours", 160),
    Arrow("505 73 505 105"),
    Box(505, 130, "The same reply as then?", "compared with the record", width=184),
    Arrow("415 130 295 130 295 75", "yes, until the end", (353, 122)),
    Arrow("505 153 505 200", "at the end, all the same", (590, 181)),
    Box(505, 225, "Verdicts from the record", "no call, no cost", "kept", 180),
    Arrow("595 130 665 130", "no", (630, 122)),
    Box(750, 130, "The record is stale", "which mode?", "bad", 160),
    Arrow("750 107 750 75", "none", (774, 94)),
    Box(750, 50, "The item fails", "unless user and judge are free", "bad", 190),
    Arrow("750 153 750 200", "live, new", (786, 181)),
    Box(750, 225, "User and judge are asked", "new writes the record anew", width=190),
)  # fmt: skip


def draw(title: str, parts: tuple[Box | Arrow, ...], width: int, height: int) -> str:
    """Return an SVG of boxes and arrows on a light card, which also reads on a dark page."""
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<polygon points="0 0 8 4 0 8" fill="#5b6478"/></marker>'
    )
    lines = "\n".join(part.svg() for part in sorted(parts, key=lambda part: isinstance(part, Box)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style><defs>{tip}</defs>"
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" fill="#fff" stroke="#d5d9e2"/>\n{lines}\n</svg>\n'
    )


def main() -> None:
    """Write both diagrams."""
    (FOLDER / "flow.svg").write_text(draw("How a run flows", FLOW, 890, 220), encoding="utf-8")
    (FOLDER / "records.svg").write_text(draw("A run with records", RECORDS, 870, 265), encoding="utf-8")


if __name__ == "__main__":
    main()
