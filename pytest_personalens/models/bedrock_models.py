"""Short names for models on Bedrock: their ids, the inference profile of a region, and the retired ones.

The list is of 2026-11-28, from AWS's model cards and its page on the life cycle of models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_CLAUDE_3, _CLAUDE_4 = ("us", "eu", "apac", "us-gov"), ("us", "eu", "apac", "global")
_NEWER = ("us", "eu", "jp", "au", "us-gov", "global")
#: Short name -> the model's id, and the prefixes that its inference profiles have. A model without a prefix
#: is called by its own id. The names of the official repository come last. Any other id is passed through.
_MODELS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "claude-3-haiku-v1": ("anthropic.claude-3-haiku-20240307-v1:0", ()),
    "claude-3-sonnet-v1": ("anthropic.claude-3-sonnet-20240229-v1:0", ()),
    "claude-3-5-haiku-v1": ("anthropic.claude-3-5-haiku-20241022-v1:0", ("us",)),
    "claude-3-5-sonnet-v1": ("anthropic.claude-3-5-sonnet-20240620-v1:0", ()),
    "claude-3-5-sonnet-v2": ("anthropic.claude-3-5-sonnet-20241022-v2:0", _CLAUDE_3),
    "claude-3-7-sonnet-v1": ("anthropic.claude-3-7-sonnet-20250219-v1:0", _CLAUDE_3),
    "claude-sonnet-4": ("anthropic.claude-sonnet-4-20250514-v1:0", _CLAUDE_4),
    "claude-opus-4-1": ("anthropic.claude-opus-4-1-20250805-v1:0", ("us",)),
    "claude-haiku-4-5": ("anthropic.claude-haiku-4-5-20251001-v1:0", _NEWER),
    "claude-sonnet-4-5": ("anthropic.claude-sonnet-4-5-20250929-v1:0", _NEWER),
    "claude-opus-4-5": ("anthropic.claude-opus-4-5-20251101-v1:0", ("us", "eu", "global")),
    "claude-sonnet-4-6": ("anthropic.claude-sonnet-4-6", ("us", "eu", "jp", "au", "global")),
    "claude-opus-4-6": ("anthropic.claude-opus-4-6-v1", ("us", "eu", "au", "global")),
    "claude-opus-4-7": ("anthropic.claude-opus-4-7", ("us", "eu", "jp", "au", "global")),
    "claude-opus-4-8": ("anthropic.claude-opus-4-8", ("us", "eu", "jp", "au", "global")),
    "claude-sonnet-5": ("anthropic.claude-sonnet-5", ("us", "eu", "au", "global")),
    "claude-opus-5": ("anthropic.claude-opus-5", ("us", "eu", "au", "global")),
    "nova-micro": ("amazon.nova-micro-v1:0", ()),
    "nova-lite": ("amazon.nova-lite-v1:0", ()),
    "nova-pro": ("amazon.nova-pro-v1:0", ()),
    "llama-3-1-8b": ("meta.llama3-1-8b-instruct-v1:0", ("us",)),
    "llama-3-1-70b": ("meta.llama3-1-70b-instruct-v1:0", ("us",)),
    "llama-3-3-70b": ("meta.llama3-3-70b-instruct-v1:0", ("us",)),
    "mistral-7b": ("mistral.mistral-7b-instruct-v0:2", ()),
    "mixtral-8x7b": ("mistral.mixtral-8x7b-instruct-v0:1", ()),
    "mistral-large": ("mistral.mistral-large-2402-v1:0", ()),
    "llama-3-70b-instruct-v1": ("meta.llama3-70b-instruct-v1:0", ()),
    "llama-3-1-8b-instruct-v1": ("meta.llama3-1-8b-instruct-v1:0", ("us",)),
    "llama-3-1-70b-instruct-v1": ("meta.llama3-1-70b-instruct-v1:0", ("us",)),
    "llama-3-3-70b-instruct-v1": ("meta.llama3-3-70b-instruct-v1:0", ("us",)),
    "mistral-7b-instruct-v2": ("mistral.mistral-7b-instruct-v0:2", ()),
    "mixtral-8x7b-instruct-v1": ("mistral.mixtral-8x7b-instruct-v0:1", ()),
}
NAMES: Final = tuple(_MODELS)
#: The last day of a model in the last of its regions, and what to take in its place.
_RETIRED: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic.claude-3-haiku-20240307": ("2026-09-10", "claude-haiku-4-5"),
    "anthropic.claude-3-sonnet-20240229": ("2026-07-30", "claude-sonnet-4-6"),
    "anthropic.claude-3-5-haiku-20241022": ("2026-06-19", "claude-haiku-4-5"),
    "anthropic.claude-3-5-sonnet-20240620": ("2026-07-30", "claude-sonnet-4-6"),
    "anthropic.claude-3-5-sonnet-20241022": ("2026-07-30", "claude-sonnet-4-6"),
    "anthropic.claude-3-7-sonnet-20250219": ("2026-07-30", "claude-sonnet-4-6"),
    "anthropic.claude-sonnet-4-20250514": ("2026-10-14", "claude-sonnet-4-6"),
    "anthropic.claude-opus-4-20250514": ("2026-05-31", "claude-opus-4-8"),
    "meta.llama3-1-405b-instruct": ("2026-07-07", "llama-3-3-70b"),
    "meta.llama3-2-": ("2026-07-07", "llama-3-3-70b"),
}
#: Regions by their beginning -> the prefixes of their inference profiles, the narrowest first.
_PREFIXES: Final = {
    "us-gov-": ("us-gov",),
    "us-": ("us",),
    "ca-": ("us",),
    "eu-": ("eu",),
    "il-": ("eu",),
    "ap-northeast-1": ("jp", "apac"),
    "ap-northeast-3": ("jp", "apac"),
    "ap-southeast-2": ("au", "apac"),
    "ap-southeast-4": ("au", "apac"),
    "ap-southeast-6": ("au", "apac"),
    "ap-": ("apac",),
}


def model_id(name: str, region: str) -> str:
    """Return the id to call in a region for a short name; any other name is an id already.

    Where the model has no inference profile for the region's part of the world, its global profile is taken,
    and else that of its first region.
    """
    if name not in _MODELS:
        return name
    own, known = _MODELS[name]
    if not known:
        return own
    wanted = next((prefixes for begin, prefixes in _PREFIXES.items() if region.startswith(begin)), ())
    found = [prefix for prefix in (*wanted, "global") if prefix in known]
    return f"{found[0] if found else known[0]}.{own}"


def retired(called: str) -> str:
    """Return since when a model is no longer on Bedrock and what to take; empty if that is not known."""
    found = ((day, other) for begin, (day, other) in _RETIRED.items() if begin in called)
    return next((f"AWS retired it, at the latest on {day}; take {other}" for day, other in found), "")
