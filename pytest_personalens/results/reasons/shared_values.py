"""Values that the assistant gives users of other preferences alike: the memory may be another user's."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: A value that is said to fewer users, or to a smaller share of those who want another, may be a coincidence.
_LEAST_USERS: Final = 3
_LEAST_SHARE: Final = 0.5
#: Shorter values are parts of too many words.
_LEAST_LETTERS: Final = 4
_MOST_SHARED: Final = 3
_WORD: Final = re.compile(r"\w+")


class SharedValue(NamedTuple):
    """A `value` of one user's preference, said to `users` of the `of` users who prefer something else."""

    domain: str
    type: str
    value: str
    users: int
    of: int


def shared_values(items: Sequence[Item], scenarios: Mapping[str, BaseScenario]) -> list[SharedValue]:
    """Return such values, the commonest first.

    A value counts for a dialogue whose user has other values of the type, if the assistant said it and
    nobody else did: neither the user in the dialogue, nor what is known of the user.
    """
    wanted: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    dialogues = []
    for item in items:
        scenario = scenarios.get(item.evaluation.scenario)
        if item.evaluation.scored and isinstance(scenario, Scenario):
            dialogues.append((item, scenario))
            for domain, types in scenario.preferences.items():
                for name, values in types.items():
                    wanted[domain, name].update((_plain(value), value) for value in values)
    said: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    others: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for item, scenario in dialogues:
        messages, user = item.evaluation.dialogue.messages, item.evaluation.user
        replies = _plain(" | ".join(m.content for m in messages if m.role == "assistant"))
        known = _plain(
            " | ".join(
                (
                    *(m.content for m in messages if m.role == "user"),
                    *scenario.summaries.values(),
                    *(v for types in scenario.preferences.values() for vs in types.values() for v in vs),
                )
            )
        )
        for domain, types in scenario.preferences.items():
            for name, values in types.items():
                if not values:
                    continue
                for plain in wanted[domain, name]:
                    if len(plain) - 2 >= _LEAST_LETTERS and plain not in known:
                        others[domain, name, plain].add(user)
                        if plain in replies:
                            said[domain, name, plain].add(user)
    found = [
        SharedValue(domain, name, wanted[domain, name][plain], len(users), len(others[domain, name, plain]))
        for (domain, name, plain), users in said.items()
        if len(users) >= _LEAST_USERS and len(users) >= _LEAST_SHARE * len(others[domain, name, plain])
    ]
    return sorted(found, key=lambda one: (-one.users, one.domain, one.type, one.value))


def shared_note(results: Results) -> str:
    """Return which values users got alike who prefer others, or "" if there is none."""
    found = shared_values(results.own, results.scenarios)
    if not found:
        return ""
    named = ", ".join(
        f"{one.value!r} ({one.domain}, {one.type}) for {one.users} of {one.of}"
        for one in found[:_MOST_SHARED]
    )
    more = f" and {len(found) - _MOST_SHARED} more" if len(found) > _MOST_SHARED else ""
    return f"the same for users who want something else: {named}{more}; is the memory another user's?"


def _plain(text: str) -> str:
    """Return the words in lower case with a space around each, so that one is found as a whole."""
    return f" {' '.join(_WORD.findall(text.lower()))} "
