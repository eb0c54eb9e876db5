"""Turns a matplotlib figure into SVG for use inside a page.

Its ids do not clash, it has no styles, and its colours follow the page's theme.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The colours of a chart. Each stands for a colour of the page, because SVG from matplotlib has no CSS
#: variables.
INK: Final = "#010101"
SOFT: Final = "#010102"
RULE: Final = "#010103"
TC: Final = "#010104"
P: Final = "#010105"
BAD: Final = "#010106"
_THEME: Final = {
    INK: "var(--ink)", SOFT: "var(--soft)", RULE: "var(--rule)", TC: "var(--tc)", P: "var(--p)",
    BAD: "var(--bad)",
}  # fmt: skip
_SVG: Final = "{http://www.w3.org/2000/svg}"
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_REFERENCE: Final = re.compile(r"url\(#")
#: Inline styles of matplotlib that are dropped: the page decides about fonts.
_DROPPED: Final = ("font-family",)


def inline_svg(figure: Figure, *, name: str, title: str) -> str:
    """Return the `figure` as one ``<svg role="img">`` with the label `title`.

    The same figure gives the same text. `name` is unique in the page and begins every id. Text stays text.
    Styles become attributes, because the page's content security policy forbids inline style. Its units are
    CSS pixels, 72 for each inch of the figure.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = io.StringIO()
    # The ids come from a salt and are not random, and there is no date: equal results give equal pages.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "personalens"}):
        FigureCanvasSVG(figure).print_svg(
            buffer, metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )  # type: ignore[no-untyped-call]
    root = ET.fromstring(buffer.getvalue())
    _strip(root, name)
    width, height = (root.attrib.pop(side).removesuffix("pt") for side in ("width", "height"))
    root.attrib.update(
        {"class": "chart", "role": "img", "aria-label": title, "width": width, "height": height}
    )
    return ET.tostring(root, encoding="unicode", short_empty_elements=True)


def _strip(root: ET.Element, name: str) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{_SVG}style", f"{_SVG}metadata"):
                parent.remove(child)
    for element in root.iter():
        # HTML needs tags without a namespace.
        element.tag = element.tag.removeprefix(_SVG)
        if style := element.attrib.pop("style", ""):
            pairs = (part.split(":", 1) for part in style.split(";") if ":" in part)
            element.attrib.update({k.strip(): v.strip() for k, v in pairs if k.strip() not in _DROPPED})
        if link := element.attrib.pop(_LINK, ""):
            element.attrib["href"] = f"#{name}-{link[1:]}"
        for key, value in element.attrib.items():
            if key == "id":
                element.attrib[key] = f"{name}-{value}"
            else:
                element.attrib[key] = _THEME.get(value, _REFERENCE.sub(f"url(#{name}-", value))
        element.text, element.tail = (element.text or "").strip(), ""
