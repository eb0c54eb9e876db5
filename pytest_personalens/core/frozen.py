"""The base of values, and the type of their texts."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

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


_Value = TypeVar("_Value", bound=Frozen)


def unchecked(model: type[_Value], **fields: Any) -> _Value:
    """Return a value whose fields are known to be right: all of them, in the order of the model.

    A run makes thousands of small values from checked files. ``model_construct`` of pydantic takes more than
    twice as long, because it looks for aliases and defaults.
    """
    value = object.__new__(model)
    _set(value, "__dict__", fields)
    _set(value, "__pydantic_fields_set__", set(fields))
    _set(value, "__pydantic_extra__", None)
    _set(value, "__pydantic_private__", None)
    return value


_set = object.__setattr__
