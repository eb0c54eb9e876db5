"""Rules for what scenarios know: facts that can be checked, limits that can be learned, dealings in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.core.suite.data_check import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.datasets.quality.corpus import Corpus

#: A goal with fewer deeds that rest on facts could be met by anybody's booking.
_DEEDS_ON_FACTS: Final = 0.9
_FEWEST_FACTS: Final = 3


def contradicting(corpus: Corpus) -> Iterator[Finding]:
    """The clock, the facts and the sessions of a scenario must agree with each other."""
    for assignment in corpus.assignments:
        for problem in assignment.contradictions:
            yield Finding("contradiction", assignment.file, f"scenario {assignment.id}", problem)


def limits_untold(corpus: Corpus) -> Iterator[Finding]:
    """An assistant must be able to learn each hard limit from the history of every domain that it is for."""
    for person in corpus.people:
        for number, limit in enumerate(person.limits, 1):
            for domain in limit.domains:
                text = person.summaries.get(domain, "").casefold()
                if text and not any(word.casefold() in text for word in limit.told):
                    yield Finding(
                        "limit",
                        person.file,
                        f"limits.{number}",
                        f"{limit.name!r} is not told in the history of {domain}: none of"
                        f" {', '.join(map(repr, limit.told))} stands there",
                    )


def devices_of_dealings(corpus: Corpus) -> Iterator[Finding]:
    """A past dealing must have taken place on a device that the person has."""
    for person in corpus.people:
        for file, number, device in person.dealing_devices:
            if person.devices and device and device not in person.devices:
                yield Finding(
                    "device",
                    file,
                    f"dealings.{number}.device",
                    f"{device!r} is none of the person's devices: {', '.join(person.devices)}",
                )


def few_facts(corpus: Corpus) -> Iterator[Finding]:
    """Tasks with facts must have three on average, and nine deeds in ten must rest on one."""
    tasks = [task for task in corpus.tasks if task.facts]  # facts are optional
    if not tasks:
        return
    mean = sum(task.facts or 0 for task in tasks) / len(tasks)
    if mean < _FEWEST_FACTS:
        yield Finding(
            "facts", corpus.name, "", f"a task has {mean:.1f} facts on average; write three or more"
        )
    deeds, resting = sum(t.deeds for t in tasks), sum(t.deeds_on_facts for t in tasks)
    if deeds and resting / deeds < _DEEDS_ON_FACTS:
        yield Finding(
            "facts", corpus.name, "", f"{resting} of {deeds} deeds rest on a fact; nine in ten should"
        )
