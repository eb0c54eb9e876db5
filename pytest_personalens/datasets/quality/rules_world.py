"""Rules for what scenarios know: facts that can be checked, limits that can be learned, dealings in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.datasets.quality.corpus import Corpus, Place

#: A goal with fewer deeds that rest on facts could be met by anybody's booking.
_DEEDS_ON_FACTS: Final = 0.9
_FEWEST_FACTS: Final = 3


def contradicting(corpus: Corpus) -> Iterator[Place]:
    """The clock, the facts and the sessions of a scenario must agree with each other."""
    for a in corpus.assignments:
        yield from ((a.file, f"scenario {a.task}-{a.user}", problem) for problem in a.contradictions)


def limits_untold(corpus: Corpus) -> Iterator[Place]:
    """An assistant must be able to learn each hard limit from the history of every domain that it is for."""
    for person in corpus.people:
        for number, limit in enumerate(person.limits, 1):
            for domain in limit.domains:
                text = person.summaries.get(domain, "").casefold()
                if text and not any(word.casefold() in text for word in limit.told):
                    words = ", ".join(map(repr, limit.told))
                    problem = (
                        f"{limit.name!r} is not told in the history of {domain}: none of {words} stands there"
                    )
                    yield person.file, f"limits.{number}", problem


def devices_of_dealings(corpus: Corpus) -> Iterator[Place]:
    """A past dealing must have taken place on a device that the person has."""
    for person in corpus.people:
        for file, number, device in person.dealing_devices:
            if person.devices and device and device not in person.devices:
                problem = f"{device!r} is none of the person's devices: {', '.join(person.devices)}"
                yield file, f"dealings.{number}.device", problem


def few_facts(corpus: Corpus) -> Iterator[Place]:
    """Tasks with facts must have three on average, and nine deeds in ten must rest on one."""
    tasks = [task for task in corpus.tasks if task.facts]  # facts are optional
    if not tasks:
        return
    mean = sum(task.facts or 0 for task in tasks) / len(tasks)
    if mean < _FEWEST_FACTS:
        yield corpus.name, "", f"a task has {mean:.1f} facts on average; write three or more"
    deeds, resting = sum(t.deeds for t in tasks), sum(t.deeds_on_facts for t in tasks)
    if deeds and resting / deeds < _DEEDS_ON_FACTS:
        yield corpus.name, "", f"{resting} of {deeds} deeds rest on a fact; nine in ten should"
