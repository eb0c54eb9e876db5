"""Opens the model that a spec names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.models.specs import PROVIDERS, read_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.models.base import Model


def open_model(
    text: str, defaults: Mapping[str, str] | None = None, *, connections: int = 64
) -> Model | None:
    """Return the model of a spec, or None for a provider of another package.

    Nothing is loaded or connected before the first call of the model. `defaults` are parameters for specs
    that do not name them, as `read_parameters` returns them. `connections` is the number of calls that may be
    in flight at once.
    """
    spec = read_spec(text)
    if spec is None:
        return None
    spec = spec.with_defaults(defaults or {}, PROVIDERS)
    if spec.provider == "bedrock":
        from pytest_personalens.models.bedrock import Bedrock

        return Bedrock(spec, connections=connections)
    from pytest_personalens.models.openai import OpenAI

    return OpenAI(spec, connections=connections)
