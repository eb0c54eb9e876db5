"""Replays a whole record of which only the assistant under test has to say the same again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_personalens.core.frozen import clean
from pytest_personalens.core.judging.evaluation import evaluation_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_personalens.core.dialogue.message import AssistantMessages
    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.engine.job import Job


def replay(
    job: Job,
    identities: tuple[str, str, str],
    assistant: Callable[[AssistantMessages], object],
    replies: list[object],
) -> Evaluation | None:
    """Return the evaluation in the job's record if the assistant says the same; None if it cannot be used.

    `identities` are those of the user agent, the judge and the audit, which get no prompts: all that they see
    is the scenario and the dialogue. While these are the same, the record holds their answers. In all other
    cases the dialogue runs with its tape, beginning with the `replies` that this function got, or what was
    raised.
    """
    record, scenario, rules = job.record, job.scenario, job.rules
    *agents, auditor = identities
    if (
        record is None
        or [record.user_agent, record.judge] != agents
        or record.content != (job.content or scenario.digest)
        or not record.data.keys().isdisjoint(("assistant", "cause", "unread"))
        or (rules.anew or rules.writes or job.resumable or job.stored is not None)
        or scenario.takes_answers
        or scenario.unrecorded
    ):
        return None
    read, dialogue = _read_by(job, record.data, auditor), record.data["dialogue"]
    messages, limit = dialogue["messages"], job.max_turns or scenario.rounds
    rounds = len(messages) // 2
    if read is None or dialogue.keys() != {"messages", "end"} or dialogue["end"] == "fault":
        return None
    if rounds > limit or (rounds < limit and dialogue["end"] == "limit"):
        return None
    history: AssistantMessages = []
    for message in messages:
        if message.keys() != {"role", "content"}:
            return None  # with tool calls, or of a session
        if message["role"] == "assistant":
            try:
                replies.append(assistant(list(map(dict, history))))
            except Exception as error:  # it is raised again where its cause is found
                replies.append(error)
                return None
            said = replies[-1]
            if not isinstance(said, str) or clean(said).strip() != message["content"]:
                return None
        history.append(message)
    return evaluation_of(scenario, *agents, dialogue=dialogue, **read)


def _read_by(job: Job, data: Mapping[str, Any], auditor: str) -> dict[str, Any] | None:
    """Return what judge and audit read in the record, by field; None if something is asked that they did not.

    A record may hold calls that nothing rests on any more.
    """
    given, gaps = {v["dimension"]: v for v in data["verdicts"]}, data.get("not_judged", {})
    asked = [measure.value for measure in job.dimensions]
    audits = [call for call in data["calls"] if call["role"] == "user audit"] if auditor else []
    if any(name not in given and name not in gaps for name in asked) or len(audits) != bool(auditor):
        return None
    read = {
        "verdicts": [given[name] for name in asked if name in given],
        "not_judged": {name: gaps[name] for name in asked if name in gaps},
    }
    if audits:
        if audits[0]["asked"]["agent"] != auditor:
            return None
        read["user_faults"] = audits[0]["answer"]
    return read if read["verdicts"] else None


def again(
    replies: list[object], assistant: Callable[[AssistantMessages], object]
) -> Callable[[AssistantMessages], object]:
    """Return the assistant as one that begins with these replies, and raises the errors among them."""
    left = iter(replies)

    def call(messages: AssistantMessages) -> object:
        for reply in left:
            if isinstance(reply, Exception):
                raise reply
            return reply
        return assistant(messages)

    return call
