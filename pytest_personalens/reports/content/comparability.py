"""Says how far a run's figures compare with those of the paper's tables.

docs/explanation/protocol.md defines the levels.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.verdict import READINGS
from pytest_personalens.core.options.settings import OFFICIAL_PROMPTS
from pytest_personalens.core.text.parse import judge_specs
from pytest_personalens.datasets import OFFICIAL_SAMPLES
from pytest_personalens.results.wording import asked_again_note, unread_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.results.values.results import Results

#: The paper's sample of fifty users: the numbers of single-domain and multi-domain scenarios.
PAPER_SCENARIOS: Final = (3_283, 813)
_LEVELS: Final = (
    "the same prompts, filled and read alike; what differs is what the models are today",
    (
        "as near as our words get: the same quantities by our wording; expect the order of assistants to"
        " hold, not the levels"
    ),
    (
        "the same quantities over other people and tasks, or by other models, context or prompt: compare with"
        " runs of the same setting"
    ),
    "figures of rules and small models: they compare with each other and with nothing else",
)
#: What shapes the answers of a model in the official code, by role.
_SHAPE: Final[dict[str, dict[str, float]]] = {
    "user agent": {"temperature": 0.5, "max_tokens": 800},
    "assistant": {"temperature": 0, "max_tokens": 800},
    "judge": {"temperature": 0, "max_tokens": 4000},
}
_PARAMETER: Final = re.compile(r"[?&](temperature|max_tokens)=([0-9.]+)")
_SECOND_JUDGE: Final = "--personalens-judge-model tc=bedrock:claude-3-sonnet-v1,SPEC"
_PAPER_SAMPLE: Final = "official-50"
#: The paper's models: a short name, and a part of Bedrock's own ids.
_MODELS: Final = {
    "user_model": ("user agent", ("claude-3-sonnet-v1", "claude-3-sonnet-20240229")),
    "judge_model": ("judge", ("claude-3-5-sonnet-v2", "claude-3-5-sonnet-20241022")),
}


def comparability(results: Results, single: int, multi: int, *, of_assistants: bool = True) -> list[str]:
    """Return sentences on how far this run compares with the paper. They give the level of likeness, and all
    differences from the paper. `single` and `multi` are the numbers of scored scenarios of this run. A table
    that is not `of_assistants` compares contexts or prompts of one assistant. A difference from the paper in
    these then does not count.
    """
    apart = list(_differences(results, of_assistants=of_assistants))
    s = results.settings
    judges = judge_specs(str(s.get("judge_model") or "-"))
    embedded = "embedded" in (s.get("user_model"), *judges.values())
    official = str(s.get("prompts") or "").startswith(OFFICIAL_PROMPTS)
    level = 3 if embedded else 2 if apart else 0 if official else 1
    said = [f"Compared with the paper: {_LEVELS[level]}."]
    if apart:
        said.append(f"What is not as in the paper: {'; '.join(apart)}.")
    said.append(
        f"The paper's sample: 50 users, {PAPER_SCENARIOS[0]:,} SD and {PAPER_SCENARIOS[1]:,} MD scenarios;"
        f" here {single:,} and {multi:,}."
    )
    why = [] if official else ["the prompts are our own"]
    if not any(name in judges.get("tc", judges[""]) for name in _MODELS["user_model"][1]):
        why.append(f"the published TCR was probably judged by Claude 3 Sonnet ({_SECOND_JUDGE})")
    said.append(
        f"No figure compares to the second decimal: {' and '.join(why) or 'models of one name change'}."
    )
    if not official and s.get("protocol") == "paper" and asked_again_note(results):
        said.append(
            "Where an answer of the judge could not be read, it was asked once more; the official code asks"
            " once."
        )
    return said


def _differences(results: Results, *, of_assistants: bool) -> Iterator[str]:
    s = results.settings
    if not results.dataset.startswith("official "):
        yield f"the dataset is {results.dataset}, not the official one"
    elif (sample := _sample(s.get("users") or ())) != _PAPER_SAMPLE:
        yield (
            f"the users are {sample or 'not those of an official sample'}, not {_PAPER_SAMPLE}"
            f" (--personalens-users {_PAPER_SAMPLE})"
        )
    for option, (role, names) in _MODELS.items():
        for reading, model in judge_specs(str(s.get(option) or "-")).items():
            accepted = (*names, *_MODELS["user_model"][1]) if reading == "tc" else names
            if not any(name in model for name in accepted):
                yield f"the {role}{f' of {reading}' if reading else ''} is {model}, not {names[0]}"
    yield from _parameters(results)
    if s.get("context") and of_assistants:
        yield (
            f"the assistant was told {'+'.join(str(s['context']))}, not nothing (--personalens-context none)"
        )
    if s.get("assistant") is None:
        yield "the assistant is one of your own"
    elif s.get("assistant_prompt", "base") != "base" and of_assistants:
        yield f"the assistant's prompt is {s['assistant_prompt']}, not base"
    prompts = str(s.get("prompts") or "")
    if prompts.startswith(OFFICIAL_PROMPTS):
        if (bugs := s.get("official_bugs") or "reproduce") != "reproduce":
            yield f"bugs of the official code are mended ({bugs})"
    else:
        if (s.get("protocol") or "default") != "paper":
            yield "the protocol is ours (--personalens-protocol paper)"
        if prompts:
            yield "some prompts are yours (--personalens-prompts)"
    if (s.get("user_agent") or "plain") != "plain":
        yield f"the user agent has {s['user_agent']} (section 4.1)"
    if (s.get("judge_votes") or 1) > 1:
        yield f"low verdicts were put to {s['judge_votes']} votes, which can only raise scores"
    if s.get("max_turns"):
        yield f"dialogues end after {s['max_turns']} rounds, not 20 and 30"
    if s.get("domain") or s.get("kind", "all") != "all":
        yield "only some domains or kinds were drawn from"
    missing = [d.short for d in READINGS if d.value not in results.overall.figures]
    if missing:
        yield f"not judged: {', '.join(missing)} (--personalens-dimensions all)"
    if results.overall.scored < results.expected:
        yield f"{results.overall.scored} of {results.expected} items could be scored"
    # The official code leaves an unreadable score out of its own mean too.
    if (unread := unread_text(results.own, results.of_suite)) and not prompts.startswith(OFFICIAL_PROMPTS):
        yield f"the judge did not give {unread}"


def _parameters(results: Results) -> Iterator[str]:
    """Yield the parameters of models that differ from those of the official code. They are in the identities
    of the agents, from options and from the configuration.
    """
    identities = {
        "user agent": {i.evaluation.user_agent for i in results.own},
        "assistant": {i.evaluation.assistant for i in results.own},
        "judge": {i.evaluation.judge for i in results.own},
    }
    for role, names in identities.items():
        given = {found for name in names for found in _PARAMETER.findall(name)}
        for parameter, value in sorted(given):
            if float(value) != (theirs := _SHAPE[role][parameter]):
                yield f"the {role} has {parameter} {value}, not {theirs:g} (?{parameter}={value})"


def _sample(users: Sequence[str]) -> str:
    """Return the official sample that has exactly these users, or an empty text."""
    named = {f"user{user}" if user.isdecimal() else user for user in users}
    return next((name for name, sample in OFFICIAL_SAMPLES.items() if named == set(sample)), "")
