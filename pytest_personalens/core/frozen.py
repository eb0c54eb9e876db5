"""The base of values, and the type of their texts."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


def clean(text: str) -> str:
    """Return `text` in a form that can be stored anywhere.

    The result is a plain str. Lone surrogates (half of an emoji) are replaced.
    """
    if type(text) is str and text.isascii():  # most texts, and each value of a scenario has some
        return text
    return str(text).encode("utf-8", "replace").decode("utf-8")


#: A text that a model, a file or an assistant may have written. JSON can hold half an emoji, which files and
#: terminals cannot hold.
Text = Annotated[str, AfterValidator(clean)]


class Frozen(BaseModel):
    """Base of values: immutable, picklable, and strict about unknown fields.

    ``model_dump`` gives the data for JSON.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
