"""Model specs such as ``bedrock:claude-3-haiku-v1?region=eu-west-1``: read, checked, opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Parameter(NamedTuple):
    """One parameter of a spec: how its text is read, and what it may be."""

    read: Callable[[str], Any]
    expected: str


def _within(low: float, high: float, kind: type[int | float]) -> Callable[[str], Any]:
    def read(text: str) -> int | float:
        value = kind(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return read


def _some(text: str) -> str:
    if not text.strip():
        raise ValueError(text)
    return text


#: What to do about an address that holds a password, which would be printed and stored with the settings, and
#: is sent to nobody.
NO_PASSWORD: Final = (
    "the address holds a user or a password, which is not sent; leave it out, and set OPENAI_API_KEY if a key"
    " is needed"
)


def holds_password(address: str) -> bool:
    """True if the address of a server has a user or a password in it."""
    return "@" in address.partition("://")[2].partition("/")[0]


def _address(text: str) -> str:
    if holds_password(text):
        raise SpecError(NO_PASSWORD)
    return _some(text)


def _switch(text: str) -> bool:
    return {"on": True, "off": False}[text]


_COMMON: Final[Mapping[str, Parameter]] = {
    "temperature": Parameter(_within(0, 2, float), "a number from 0 to 2"),
    "max_tokens": Parameter(_within(1, 200_000, int), "a whole number of at least 1"),
    "timeout": Parameter(_within(0.1, 3600, float), "seconds from 0.1 to 3600"),
    "tools": Parameter(_switch, "on or off"),
}
#: What each provider of ours takes beside the common ones.
PROVIDERS: Final[Mapping[str, Mapping[str, Parameter]]] = {
    "bedrock": {
        **_COMMON,
        "region": Parameter(_some, "an AWS region"),
        "profile": Parameter(_some, "a profile of the AWS configuration"),
        "cache": Parameter(_switch, "on or off"),
    },
    "openai": {**_COMMON, "base_url": Parameter(_address, "the address of a server, ending in /v1")},
}
#: Services that are an assistant under test, and no model.
SERVICES: Final[Mapping[str, Mapping[str, Parameter]]] = {
    "bedrock-agent": {name: PROVIDERS["bedrock"][name] for name in ("region", "profile")},
    "agentcore": {
        "profile": PROVIDERS["bedrock"]["profile"],
        "qualifier": Parameter(_some, "the name of an endpoint"),
    },
}


class Spec(NamedTuple):
    """A spec, taken apart. `name` is what identifies the model: provider, id and what changes its answers."""

    provider: str
    model: str
    parameters: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Provider, model and the parameters that shape answers; not where or how patiently it is asked."""
        shaping = sorted(
            (k, v) for k, v in self.parameters.items() if k in ("temperature", "max_tokens", "tools")
        )
        query = "&".join(f"{k}={v}" for k, v in shaping)
        return f"{self.provider}:{self.model}" + (f"?{query}" if query else "")


def read_spec(text: str, providers: Mapping[str, Mapping[str, Parameter]] = PROVIDERS) -> Spec | None:
    """The parts of a spec of ours; None if its provider is none of `providers`.

    Raises `SpecError` for a bad one.
    """
    provider, _, rest = text.partition(":")
    if provider not in providers:
        return None
    from urllib.parse import parse_qsl

    model, _, query = rest.partition("?")
    if not model.strip():
        raise SpecError(f"{text!r}: expected {provider}:MODEL")
    known = providers[provider]
    parameters: dict[str, Any] = {}
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise SpecError(f"{text!r}: expected parameters such as ?temperature=0&max_tokens=500") from None
    for key, value in pairs:
        if key not in known:
            raise SpecError(f"{text!r}: unknown parameter {key!r}; known for {provider}: {', '.join(known)}")
        parameters[key] = _read(known[key], key, value, repr(text))
    return Spec(provider, model, parameters)


def read_parameters(lines: Sequence[str]) -> dict[str, str]:
    """The parameters of the ini file, a line ``NAME = VALUE`` each, for specs that do not name them.

    Raises `SpecError`.
    """
    parameters: dict[str, str] = {}
    for line in lines:
        key, equals, value = (part.strip() for part in line.partition("="))
        known = [p[key] for p in PROVIDERS.values() if key in p]
        if not equals or not known:
            names = ", ".join(dict.fromkeys(name for p in PROVIDERS.values() for name in p))
            raise SpecError(f"expected 'NAME = VALUE' with one of the names {names}; found {line!r}")
        _read(known[0], key, value, repr(line))
        parameters[key] = value
    return parameters


def _read(parameter: Parameter, key: str, value: str, where: str) -> Any:
    try:
        return parameter.read(value)
    except SpecError as error:
        raise SpecError(f"{where}: {key}: {error}") from None
    except (ValueError, KeyError):
        raise SpecError(f"{where}: {key}: expected {parameter.expected}, not {value!r}") from None
