"""Reads and checks model specs such as ``bedrock:claude-3-haiku-v1?region=eu-west-1``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.options.option_table import number, some

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: What names the assistant.
FLAG: Final = "--personalens-assistant"


class ServiceSettings(NamedTuple):
    """What the configuration says of the service: the request's template, the reply's path, headers."""

    request: str | None = None
    reply: str = ""
    headers: tuple[str, ...] = ()


class Parameter(NamedTuple):
    """One parameter of a spec: a function that reads its text, and its allowed values."""

    read: Callable[[str], Any]
    expected: str


_TEXT: Final = some("a text")
#: The advice for an address that holds a password. The password is sent to nobody, but it would be printed
#: and stored with the settings.
NO_PASSWORD: Final = (
    "the address holds a user or a password, which is not sent; leave it out, and set OPENAI_API_KEY if a key"
    " is needed"
)


def holds_password(address: str) -> bool:
    """True if the address of a server contains a user or a password."""
    return "@" in address.partition("://")[2].partition("/")[0]


def _address(text: str) -> str:
    if holds_password(text):
        raise SpecError(NO_PASSWORD, code="PL302")
    return _TEXT(text)


def _switch(text: str) -> bool:
    return {"on": True, "off": False}[text]


#: Provider -> its parameters by name.
Providers = Mapping[str, Mapping[str, Parameter]]
#: The parameters that shape a model's answers.
_SHAPING: Final = ("temperature", "max_tokens", "tools")
_COMMON: Final[Mapping[str, Parameter]] = {
    "temperature": Parameter(number(0, 2), "a number from 0 to 2"),
    "max_tokens": Parameter(number(1, 200_000, int), "a whole number of at least 1"),
    "timeout": Parameter(number(0.1, 3600), "seconds from 0.1 to 3600"),
    "tools": Parameter(_switch, "on or off"),
}
#: The parameters of each provider that this package knows, with those common to all.
PROVIDERS: Final[Providers] = {
    "bedrock": {
        **_COMMON,
        "region": Parameter(_TEXT, "an AWS region"),
        "profile": Parameter(_TEXT, "a profile of the AWS configuration"),
        "cache": Parameter(_switch, "on or off"),
    },
    "openai": {**_COMMON, "base_url": Parameter(_address, "the address of a server, ending in /v1")},
}
#: Services that are an assistant under test, and no model.
SERVICES: Final[Providers] = {
    "bedrock-agent": {name: PROVIDERS["bedrock"][name] for name in ("region", "profile")},
    "agentcore": {
        "profile": PROVIDERS["bedrock"]["profile"],
        "qualifier": Parameter(_TEXT, "the name of an endpoint"),
    },
}


class Spec(NamedTuple):
    """The parts of a spec."""

    provider: str
    model: str
    parameters: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the provider, the model and the parameters that shape its answers, and no others."""
        shaping = sorted((k, v) for k, v in self.parameters.items() if k in _SHAPING)
        query = "&".join(f"{k}={v}" for k, v in shaping)
        return f"{self.provider}:{self.model}" + (f"?{query}" if query else "")

    def with_defaults(self, defaults: Mapping[str, str], providers: Providers) -> Spec:
        """Return the spec with those of the `defaults` that its provider knows and that it does not name."""
        known = providers[self.provider]
        read = {name: known[name].read(text) for name, text in defaults.items() if name in known}
        return self._replace(parameters={**read, **self.parameters})


def read_spec(text: str, providers: Providers = PROVIDERS) -> Spec | None:
    """Return the parts of a spec, or None for a provider of others. Raise `SpecError` for a bad spec."""
    provider, _, rest = text.partition(":")
    if provider not in providers:
        return None
    from urllib.parse import parse_qsl

    model, _, query = rest.partition("?")
    if not model.strip():
        raise SpecError(f"{text!r}: expected {provider}:MODEL")
    definitions = providers[provider]
    parameters: dict[str, Any] = {}
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise SpecError(f"{text!r}: expected parameters such as ?temperature=0&max_tokens=500") from None
    for key, value in pairs:
        if key not in definitions:
            raise SpecError(
                f"{text!r}: unknown parameter {key!r}; known for {provider}: {', '.join(definitions)}"
            )
        parameters[key] = _read(definitions[key], key, value, repr(text))
    return Spec(provider, model, parameters)


def read_parameters(lines: Sequence[str]) -> dict[str, str]:
    """Return the parameters of the ini file, which apply to specs that do not name them.

    Each line has the form ``NAME = VALUE``. Raise `SpecError` for any other line, name or value.
    """
    parameters: dict[str, str] = {}
    for line in lines:
        key, equals, value = (part.strip() for part in line.partition("="))
        definitions = [p[key] for p in PROVIDERS.values() if key in p]
        if not equals or not definitions:
            names = ", ".join(dict.fromkeys(name for p in PROVIDERS.values() for name in p))
            raise SpecError(f"expected 'NAME = VALUE' with one of the names {names}; found {line!r}")
        _read(definitions[0], key, value, repr(line))
        parameters[key] = value
    return parameters


def _read(parameter: Parameter, key: str, value: str, where: str) -> Any:
    try:
        return parameter.read(value)
    except SpecError as error:
        raise SpecError(f"{where}: {key}: {error}", code=error.code) from None
    except (ValueError, KeyError):
        raise SpecError(f"{where}: {key}: expected {parameter.expected}, not {value!r}") from None
