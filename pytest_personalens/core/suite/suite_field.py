"""The name of a suite as a field of a file."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.suite.suite import get_suite


def _open(name: str) -> str:
    try:
        return get_suite(name).name
    except SpecError as error:
        raise ValueError(str(error)) from None


#: The name of a suite as a field. It comes before the fields that hold the suite's measures.
SuiteField = Annotated[str, AfterValidator(_open)]
