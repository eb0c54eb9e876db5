"""Reads the fields of an object in a file; a wrong one is an error that names the file and the field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.frozen import clean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path


class Fields:
    """The fields of one object at a `place` of a file, such as ``[3]``; its errors are `DataError`."""

    def __init__(self, file: Path, place: str, value: object) -> None:
        self.file, self.place = file, place
        if not isinstance(value, dict):
            raise DataError(file, f"expected an object, not {type(value).__name__}", field=place)
        self._data: Mapping[str, Any] = value

    def error(self, name: str, problem: str) -> DataError:
        return DataError(self.file, problem, field=f"{self.place}.{name}" if self.place else name)

    def text(self, name: str, kind: type | tuple[type, ...] = str) -> str:
        """Return a text that is not empty, or a value of another `kind` as a text."""
        value = self._data.get(name)
        if not isinstance(value, kind) or isinstance(value, bool) or not str(value).strip():
            raise self.error(name, f"expected a text, not {_shown(value)}")
        return clean(str(value)).strip()

    def values(self, name: str, least: int = 0) -> list[Any]:
        value = self._data.get(name)
        if not isinstance(value, list) or len(value) < least:
            wanted = f"a list of {least} or more" if least else "a list"
            raise self.error(name, f"expected {wanted}, not {_shown(value)}")
        return value

    def texts(self, name: str, least: int = 0) -> list[str]:
        values = self.values(name, least)
        if not all(isinstance(value, str) and value.strip() for value in values):
            raise self.error(name, "expected texts that are not empty")
        return [clean(value).strip() for value in values]

    def inner(self, name: str) -> Fields:
        return Fields(self.file, f"{self.place}.{name}" if self.place else name, self._data.get(name))

    def items(self) -> Mapping[str, Any]:
        return self._data

    def messages(
        self,
        name: str,
        value: object,
        *,
        roles: Collection[str] = ("user", "assistant"),
        gold: Collection[str] = (),
    ) -> list[dict[str, str]]:
        """Return messages with nothing but role and content.

        Fields in `gold` are left out, and any other field is an error: it may tell the answer.
        """
        messages = []
        if not isinstance(value, list):
            raise self.error(name, f"expected a list of messages, not {_shown(value)}")
        for number, raw in enumerate(value):
            message = Fields(self.file, f"{self.place}.{name}[{number}]".lstrip("."), raw)
            content, role = (message._data.get(field) for field in ("content", "role"))
            if not isinstance(role, str) or role not in roles:
                raise message.error("role", f"expected {' or '.join(roles)}, not {_shown(role)}")
            if not isinstance(content, str):
                raise message.error("content", f"expected a text, not {_shown(content)}")
            if other := sorted(message._data.keys() - {"role", "content", *gold}):
                raise message.error(other[0], "a message of a history has role and content only; take it out")
            messages.append({"role": role, "content": clean(content)})
        return messages


def _shown(value: object) -> str:
    return "nothing" if value in (None, "", []) else f"{value!r:.60}"
