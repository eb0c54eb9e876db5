"""Audits the simulated user: finds its faults in a dialogue, by the scenario and the words that were said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.reading.user_claims import WORD, contradictions
from pytest_personalens.core.judging.user_fault import UserFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.reading.work import Work
    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.scenario import Scenario

#: A message of the user that only an assistant would write.
AS_ASSISTANT: Final = re.compile(
    r"^\W*(?:assistant|\[?assistant\]?)\s*:|^\s*\[?user\]?\s*:.*^\W*assistant\s*:|"
    r"\bas an ai\b|\bas a language model\b|\bi'?m (?:just )?an ai\b|\bhow (?:can|may) i (?:help|assist)"
    r" you\b",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
#: Further offers of help, and deeds that are reported to "you".
_SERVES: Final = re.compile(
    r"\banything else (?:that )?i can\b|\bglad (?:i could|to have) help(?:ed)?\b"
    r"|\blet me know if (?:you need|there is|there's) anything else\b(?! from)"
    r"|\bi(?:'ve| have) (?:now |just |already )*(?:booked|reserved|ordered|scheduled|cancell?ed|rebooked|purchased) (?:your?\b|[^.!?]*\bfor you\b)",
    re.IGNORECASE,
)
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")
#: A sentence of fewer words may be said twice.
_SHORTEST: Final = 5

#: The user says that nothing more is wanted, or only gives thanks.
_CLOSES: Final = re.compile(
    r"\b(?:that(?:'s| is| was| will be|'ll be)(?: really| about)? (?:all|it|everything)|nothing else|no more|(?:i'?m|we'?re|i am|we are)?(?: all)? ?(?:all set|all done|all good)|i'?m (?:good|done)|(?:all|everything|what|just what) (?:i|we) (?:wanted|needed|wished)"
    r"|nah|no,? thank|(?:good)?bye|for now)\b",
    re.IGNORECASE,
)
_THANKS: Final = re.compile(r"\b(?:thanks?|thank you|thx|cheers|much appreciated)\b", re.IGNORECASE)
#: The user takes what is offered, or goes away without what it wanted: no thanks for a deed.
_ANSWERS: Final = re.compile(
    r"\?|\b(?:yes|yeah|yep|yup|sure|please|go ahead|do (?:it|that|so)|go for|sounds|works|let'?s|book|take|send|the (?:first|second|third|last|other)|either|whichever|decide|you (?:pick|choose)|i'?d|i would|i want|make it)\b",
    re.IGNORECASE,
)
_GIVES_UP: Final = re.compile(
    r"\b(?:never ?mind|myself|on my own|forget it|give up|giving up|pity|shame|unfortunate\w*|anyway|for (?:trying|looking)|oh dear|sorry|somewhere else|elsewhere|another way|leave it|stop here|too bad|no use|later|wait|think about|will do|look (?:into|forward))\b",
    re.IGNORECASE,
)
_APPROVES: Final = re.compile(
    r"\b(?:great|perfect|lovely|good|wonderful|excellent|splendid|brilliant|fine|ok|okay|right|nice|sweet|amazing|awesome|cool|super)\b",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 14
#: A question that "great, thanks" does not answer.
_OPEN_QUESTION: Final = re.compile(r"\b(?:which|what|when|where|who|whose|how)\b[^?]*\?", re.IGNORECASE)
#: A reply says that the deed is not done.
_NOT_DONE: Final = re.compile(
    r"\bnothing(?:'s| is| has been| was)? (?:yet )?(?:ordered|booked|paid|sent|arranged|changed|bought|set|saved|done|cancelled)\b"
    r"|\b(?:have ?n[o']t|is ?n[o']t|are ?n[o']t|was ?n[o']t|has ?n[o']t|not)(?: been)? (?:yet )?(?:ordered|booked|paid|sent|arranged|bought|reserved|scheduled|made|placed)\b"
    r"|\b(?:i|we) (?:can(?:'t|not| not)|could(?:n't| not)|(?:am|'m|are|'re) (?:not able|unable) to) (?:\w+ )?(?:book|order|pay|send|buy|reserve|arrange|schedule|make|place|cancel|change|move|set)\b",
    re.IGNORECASE,
)
#: The verbs of one deed each.
_DEEDS: Final = tuple(
    re.compile(rf"\b(?:{verbs})\b", re.IGNORECASE)
    for verbs in (
        "book|booked|buy|bought|order|ordered|pay|paid|reserve|reserved|place|placed",
        "send|sent",
        "change|changed|move|moved",
        "cancel|cancell?ed",
        "arrange|arranged|schedule|scheduled|make|made|set|saved?",
    )
)
_PROMISES: Final = re.compile(
    r"\b(?:i'll|i will|we'll|we will|let me|i'm going to|i am going to)\b", re.IGNORECASE
)


def user_faults(scenario: Scenario, dialogue: Dialogue) -> tuple[UserFault, ...]:
    """Return the faults of the user, in the order of their turns.

    The audit depends on nothing but its arguments. It reports what is plain, and misses the rest. Without
    facts of the scenario, it does not look for contradictions.
    """
    found = [
        *contradictions(scenario, dialogue.messages),
        *_as_assistant(dialogue.messages),
        *_repetitions(dialogue.messages),
        *_ending(scenario, dialogue),
    ]
    return tuple(sorted(found, key=lambda fault: fault.turn))


def _as_assistant(messages: Sequence[Message]) -> Iterator[UserFault]:
    for turn, message in enumerate(messages):
        if message.role == "user" and (
            match := AS_ASSISTANT.search(message.content) or _SERVES.search(message.content)
        ):
            yield UserFault(
                code="spoke-as-assistant",
                turn=turn,
                quote=" ".join(match[0].split()),
                text="speaks as the assistant would",
            )


def _repetitions(messages: Sequence[Message]) -> Iterator[UserFault]:
    said: dict[str, int] = {}
    for turn, message in enumerate(messages):
        if message.role != "user":
            continue
        sentences = {_folded(s): s.strip() for s in _SENTENCES.split(message.content)}
        for folded, sentence in sentences.items():
            if len(folded.split()) < _SHORTEST or _THANKS.search(sentence):
                continue
            first = said.setdefault(folded, turn)
            if first < turn and not _asked_again(messages, first, turn):
                yield UserFault(
                    code="repeated", turn=turn, quote=sentence, text=f"says what it said at turn {first}"
                )
                break


def _asked_again(messages: Sequence[Message], first: int, turn: int) -> bool:
    """True if the assistant said the same before both messages: who is asked again answers again."""
    return first > 0 and _folded(messages[first - 1].content) == _folded(messages[turn - 1].content)


def _folded(text: str) -> str:
    return " ".join(WORD.findall(text.lower()))


def _ending(scenario: Scenario, dialogue: Dialogue) -> Iterator[UserFault]:
    """Find an end before the deed, or thanks for what was not done: one of them, or none."""
    messages, silent = dialogue.messages, dialogue.end == "silence"
    last = len(messages) - (1 if silent else 3)  # the reply that the user ended the dialogue on
    if dialogue.end not in ("user", "silence") or last < 1 or messages[last].role != "assistant":
        return
    reply, after = messages[last].content, "" if silent else messages[-1].content
    end = "" if silent else messages[last + 1].content
    if not silent and not _is_content(end):
        return
    offered = "" if _accepts(end, reply) else _offer(reply)
    undone = _NOT_DONE.search(after) or _NOT_DONE.search(reply)
    if not (offered or (undone and _THANKS.search(end))):
        return
    # A replay rarely gets here, and these imports would slow it down.
    from pytest_personalens.agents.reading.work import Work

    work = Work(scenario, messages)
    promises = offered and "?" not in offered
    if promises and any(s.act == "done" for s in work.statements):
        return
    if not _is_open(work, undone[0] if undone else ""):
        return
    turn = last if silent else last + 1
    if offered:
        does = "promises" if promises else "asks"
        text = f'ends the dialogue although the assistant still {does}: "{offered}"'
        yield UserFault(code="ended-early", turn=turn, quote=end, text=text)
    elif undone:
        admitted = " ".join(undone[0].split())
        text = f'thanks the assistant, which says that it is not done: "{admitted}"'
        yield UserFault(code="thanked-early", turn=turn, quote=end, text=text)


def _is_content(text: str) -> bool:
    """True if a message does nothing but close the dialogue, and is content."""
    return (
        len(WORD.findall(text)) <= _MOST_WORDS
        and bool(_CLOSES.search(text) or _THANKS.search(text))
        and not _GIVES_UP.search(text)
        and not _ANSWERS.search(text)
        and not any(c.isdigit() for c in text)
    )


def _accepts(end: str, reply: str) -> bool:
    """True if the end may be a yes to the last question: "Great, thanks!" to "Shall I book it?"."""
    approves = _APPROVES.search(end) and not _CLOSES.search(end)
    return bool(approves) and not _OPEN_QUESTION.search(reply)


def _is_open(work: Work, admitted: str) -> bool:
    """True if nothing of what was to be done was done; where the task asks for no deed, if nothing was told.

    The words in which the assistant `admitted` that it did nothing count if they name a deed of the task.
    """
    deeds = [s for s in work.stands if s.part.kind == "done" and not s.part.never]
    if admitted:
        wanted = " ".join(word for s in deeds for word in (s.part.text, *s.part.words)).lower()
        return any(verbs.search(admitted) and verbs.search(wanted) for verbs in _DEEDS)
    return all(s.state not in ("done", "wrong") for s in deeds or work.stands)


def _offer(reply: str) -> str:
    """Return what a reply asks or promises at its end; empty where it does neither."""
    if "?" not in reply and not _PROMISES.search(reply):
        return ""
    from pytest_personalens.agents.language.statements import substance
    from pytest_personalens.agents.reading.acts import act

    said = substance(reply)[-2:]
    if asked := next((quote for _, quote in reversed(said) if "?" in quote), ""):
        return asked
    return said[-1][1] if said and _PROMISES.search(said[-1][0]) and act(said[-1][0]) == "promised" else ""
