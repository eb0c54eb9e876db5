"""A value of a test, in all the ways in which it may be written."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field, model_validator

from pytest_personalens.core.frozen import Frozen, Text

#: Between the ways to write a value.
_OR: Final = "|"


class Value(Frozen):
    """A value in all the ways in which it may be written; a file has ``oat milk | oatmilk``."""

    ways: tuple[Text, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        if not isinstance(data, str):
            return data
        ways = tuple(way.strip() for way in data.split(_OR))
        if not all(ways):
            raise ValueError(f"expected a value, such as 'oat milk {_OR} oatmilk', not {data!r}")
        return {"ways": ways}

    def __str__(self) -> str:
        return self.ways[0]
