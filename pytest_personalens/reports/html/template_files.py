"""Reads the templates of the pages."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import jinja2

_FOLDERS = {"css": "styles", "js": "scripts", "jinja": "pages"}


def read_template(name: str) -> str:
    """Return the text of a style, a script or a page."""
    folder = _FOLDERS[name.rpartition(".")[2]]
    return (files(__package__) / "templates" / folder / name).read_text(encoding="utf-8")


def environment(finalize: Callable[[Any], Any]) -> jinja2.Environment:
    """Return Jinja's environment for pages, which escapes every value and refuses an unknown name."""
    import jinja2  # a run without a page does not load it

    return jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
        loader=jinja2.FunctionLoader(read_template),
    )
