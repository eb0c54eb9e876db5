"""Clients for language models on Bedrock and behind the OpenAI protocol, with one common call."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pytest_personalens.models.model import Answer, Model, Request

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Answer", "Model", "Request", "open_model"]


def open_model(
    text: str,
    defaults: Mapping[str, str] | None = None,
    *,
    connections: int = 64,
    folder: Path | None = None,
) -> Model | None:
    """Return the model of a spec, or None for a provider of another package.

    Nothing is loaded or connected before the first call of the model. `defaults` are parameters for specs
    that do not name them, as `read_parameters` returns them. `connections` is the number of calls that may be
    in flight at once. In `folder` the processes of a run share what they learn of the model's server.
    """
    from pytest_personalens.models.specs import PROVIDERS, read_spec

    spec = read_spec(text)
    if spec is None:
        return None
    from pytest_personalens.models.openai import Learnt, OpenAI

    spec = spec.with_defaults(defaults or {}, PROVIDERS)
    place = [spec.parameters.get(name) for name in ("base_url", "region")]
    digest = hashlib.sha256(repr((spec.provider, spec.model, place)).encode())
    learnt = Learnt(folder / f"learnt-{digest.hexdigest()[:16]}" if folder is not None else None)
    if spec.provider == "bedrock":
        from pytest_personalens.models.bedrock import Bedrock

        return Bedrock(spec, connections=connections, learnt=learnt)
    return OpenAI(spec, connections=connections, learnt=learnt)
