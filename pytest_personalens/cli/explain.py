"""``personalens explain``: what to do about the code of an error."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING

from pytest_personalens.cli.command import command
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.text.error_codes import error_codes

if TYPE_CHECKING:
    import argparse


@command("explain")
def main(options: argparse.Namespace) -> int:
    """Print what is known of a code, or the list of all codes."""
    codes = error_codes()
    if options.code is None:
        print(*(f"{code}  {known.title}" for code, known in codes.items()), sep="\n")
        return 0
    known = codes.get(options.code.upper())
    if known is None:
        raise SpecError(f"unknown code {options.code!r}; known: {', '.join(codes)}")
    print(
        f"{known.code}: {known.title}", known.do.replace("`", ""), f"more: {_address(known.page)}", sep="\n"
    )
    return 0


def _address(page: str) -> str:
    try:
        urls = metadata("pytest-personalens").get_all("Project-URL", [])
    except PackageNotFoundError:  # imported from a folder that was not installed
        urls = []
    docs = next((url.split(", ")[1] for url in urls if url.startswith("Documentation, ")), "docs/README.md")
    return docs.removesuffix("README.md") + page
