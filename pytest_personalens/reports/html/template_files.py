"""Reads the templates of the pages."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

from pytest_personalens.core.text.safe_text import harmless

if TYPE_CHECKING:
    import jinja2

_FOLDERS = {"css": "styles", "js": "scripts", "jinja": "pages"}


def read_template(name: str) -> str:
    """Return the text of a style, a script or a page."""
    folder = _FOLDERS[name.rpartition(".")[2]]
    return (files(__package__) / "templates" / folder / name).read_text(encoding="utf-8")


def policy(style: str, script: str = "") -> str:
    """Return the Content-Security-Policy of a page, which allows this style and this script alone."""
    allowed = f"default-src 'none'; style-src '{_digest(style)}';"
    allowed += f" script-src '{_digest(script)}';" if script else ""
    return f"{allowed} base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def environment() -> jinja2.Environment:
    """Return Jinja's environment for pages, which escapes every value and refuses an unknown name.

    Any printed text may come from a model, so its hidden characters are escaped, as on the terminal. Markup
    comes from this package.
    """
    import jinja2  # a run without a page does not load it

    return jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: harmless(value) if type(value) is str else value,
        loader=jinja2.FunctionLoader(read_template),
    )
