"""Audits the simulated user: finds its faults in a dialogue, by the facts of the scenario and the words said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.verdict import UserFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.embedded.reader.statements import Finding
    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.scenario import Scenario

#: A message of the user that only an assistant would write.
AS_ASSISTANT: Final = re.compile(r"^\W*(?:assistant|\[?assistant\]?)\s*:|^\s*\[?user\]?\s*:.*^\W*assistant\s*:|\bas an ai\b|\bas a language model\b|\bi'?m (?:just )?an ai\b|\bhow (?:can|may) i (?:help|assist) you\b", re.IGNORECASE | re.MULTILINE | re.DOTALL)  # fmt: skip
#: Further offers of help, and deeds that are reported to "you".
_SERVES: Final = re.compile(r"\banything else (?:that )?i can\b|\bglad (?:i could|to have) help(?:ed)?\b|\blet me know if (?:you need|there is|there's) anything else\b(?! from)"
    r"|\bi(?:'ve| have) (?:now |just |already )*(?:booked|reserved|ordered|scheduled|cancell?ed|rebooked|purchased) (?:your?\b|[^.!?]*\bfor you\b)", re.IGNORECASE)  # fmt: skip
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD: Final = re.compile(r"[\w'’]+")
#: A sentence of fewer words may be said twice.
_SHORTEST: Final = 5
#: The user says that nothing more is wanted, goes away without what it wanted, or takes an offer.
_CLOSES: Final = re.compile(r"\b(?:that(?:'s| is| was| will be)(?: really| about)? (?:all|it|everything)|nothing else|no more|all (?:set|done|good)|i'?m (?:good|done)|(?:all|everything|what) (?:i|we) (?:wanted|needed)|(?:good)?bye|for now)\b", re.IGNORECASE)  # fmt: skip
_THANKS: Final = re.compile(r"\b(?:thanks?|thank you|thx|cheers|much appreciated)\b", re.IGNORECASE)
_GIVES_UP: Final = re.compile(r"\b(?:never ?mind|myself|on my own|forget it|give up|giving up|pity|shame|unfortunate\w*|anyway|for (?:trying|looking)|oh dear|sorry|elsewhere|leave it|too bad|no use|later|wait|think about|look (?:into|forward))\b", re.IGNORECASE)  # fmt: skip
_ANSWERS: Final = re.compile(r"\?|\d|\b(?:yes|yeah|yep|yup|sure|please|go ahead|do (?:it|that|so)|go for|sounds|works|let'?s|book|take|send|the (?:first|second|third|last|other)|either|whichever|decide|you (?:pick|choose)|i'?d|i would|i want|make it)\b", re.IGNORECASE)  # fmt: skip
#: An approval, which may be a yes to the last question: "Great, thanks!" to "Shall I book it?".
_APPROVES: Final = re.compile(r"\b(?:great|perfect|lovely|good|wonderful|excellent|brilliant|fine|ok|okay|right|nice|amazing|awesome|cool|super)\b", re.IGNORECASE)  # fmt: skip
_OPEN_QUESTION: Final = re.compile(r"\b(?:which|what|when|where|who|whose|how)\b[^?]*\?", re.IGNORECASE)
_MOST_WORDS: Final = 14
#: A text that may hold a typed value; a quick test.
_VALUE: Final = re.compile(r"\d|day\b|\b(?:today|tomorrow|tonight|noon|midnight|two|three|four|five|six|seven|eight|nine|ten|twelve|half|fortnight)\b|[a-z,] [A-Z]")  # fmt: skip
#: A sentence that repeats what it was told, or speaks of something beside.
_NO_CLAIM: Final = re.compile(r"\b(?:says?|said|thought|you have|unless|already|usual\w*|every|each|ago|old|last|maybe|or)\b", re.IGNORECASE)  # fmt: skip
#: A user takes a value back.
_MENDS: Final = re.compile(r"\b(?:no|not|sorry|mean|meant|instead|rather|changed?|after all|wait|correction)\b", re.IGNORECASE)  # fmt: skip


def user_faults(scenario: Scenario, dialogue: Dialogue) -> tuple[UserFault, ...]:
    """Return the faults of the user, in the order of their turns.

    It reports what is plain, and misses the rest. Without facts, it does not look for contradictions.
    """
    found = [
        *_contradictions(scenario, dialogue.messages),
        *_as_assistant(dialogue.messages),
        *_repetitions(dialogue.messages),
        *_ending(scenario, dialogue),
    ]
    return tuple(sorted(found, key=lambda fault: fault.turn))


def _contradictions(scenario: Scenario, messages: Sequence[Message]) -> Iterator[UserFault]:
    """Yield what the user says against the facts, each fact once.

    A value that the user takes back is none: the same message or the next one names both.
    """
    turns = [t for t, m in enumerate(messages) if m.role == "user" and _VALUE.search(m.content)]
    if not scenario.task.facts or not turns:
        return
    # A replay rarely gets here, and these imports would slow it down.
    from pytest_personalens.agents.embedded.reader.statements import Facts, is_taste, pieces
    from pytest_personalens.agents.embedded.reader.text import mentions, plain
    from pytest_personalens.agents.embedded.reader.typed_values import values
    from pytest_personalens.datasets.world.written import FORMS, say

    facts, told = Facts(scenario), set[str]()

    def is_mended(f: Finding, message: str) -> bool:
        """True if a message takes a wrong value back: it names both, and says which of them counts."""
        was, now = ([(v.kind, v.value) for v in values(text, scenario.now)] for text in (f.said, message))
        named = any(value in now for value in was)
        said = (say(f.fact.kind, value, form) for value in f.fact.right for form in ("", *FORMS))
        return named and _MENDS.search(message) is not None and any(mentions(text, message) for text in said)

    for turn in turns:
        heard = " ".join(plain(m.content) for m in messages[:turn] if m.role == "assistant")
        said = [(p, facts.findings(p, deed=True)) for p in pieces(messages[turn].content)]
        right = {f.fact.name for _, found in said for f in found if f.right}
        for text, found in said:
            for f in found:
                closed = f.sure and not (f.right or f.fact.known == "open" or is_taste(f.fact))
                known = (
                    f.fact.name in right | told
                    or mentions(f.said, heard)
                    or mentions(f.said, scenario.task.intent)
                )
                if closed and not known and not _NO_CLAIM.search(text):
                    if any(is_mended(f, m.content) for m in messages[turn : turn + 3 : 2]):
                        continue
                    told.add(f.fact.name)
                    match = re.search(re.escape(f.said), text, re.IGNORECASE)
                    wanted = f.fact.says or " or ".join(f.fact.right)
                    problem = f"says {(match[0] if match else f.said).rstrip('.')}, the scenario says {wanted} ({f.fact.what})"
                    yield UserFault(code="contradicted", turn=turn, quote=text, text=problem)


def _as_assistant(messages: Sequence[Message]) -> Iterator[UserFault]:
    for turn, message in enumerate(messages):
        if message.role != "user":
            continue
        if match := AS_ASSISTANT.search(message.content) or _SERVES.search(message.content):
            quote = " ".join(match[0].split())
            yield UserFault(
                code="spoke-as-assistant", turn=turn, quote=quote, text="speaks as the assistant would"
            )


def _repetitions(messages: Sequence[Message]) -> Iterator[UserFault]:
    said: dict[str, int] = {}
    for turn, message in enumerate(messages):
        if message.role != "user":
            continue
        for sentence in _SENTENCES.split(message.content):
            folded = _words_of(sentence)
            if len(folded.split()) < _SHORTEST or _THANKS.search(sentence):
                continue
            first = said.setdefault(folded, turn)
            if first < turn and not _asked_again(messages, first, turn):
                text = f"says what it said at turn {first}"
                yield UserFault(code="repeated", turn=turn, quote=sentence.strip(), text=text)
                break


def _asked_again(messages: Sequence[Message], first: int, turn: int) -> bool:
    """True if the assistant said the same before both messages: who is asked again answers again."""
    return first > 0 and _words_of(messages[first - 1].content) == _words_of(messages[turn - 1].content)


def _words_of(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _ending(scenario: Scenario, dialogue: Dialogue) -> Iterator[UserFault]:
    """Find an end before the deed, or thanks for what was not done or is wrong: one of them, or none."""
    messages, silent = dialogue.messages, dialogue.end == "silence"
    last = len(messages) - (1 if silent else 3)  # the reply that the user ended the dialogue on
    if dialogue.end not in ("user", "silence") or last < 1 or messages[last].role != "assistant":
        return
    end = "" if silent else messages[last + 1].content
    if not (silent or _is_content(end)):
        return
    from pytest_personalens.agents.embedded.judge.read_dialogue import Reading, read_parts
    from pytest_personalens.agents.embedded.reader.statements import is_taste

    until = Reading(scenario, dialogue.model_copy(update={"messages": messages[: last + 1]}))
    now = [s for s in until.said if s.turn == last]
    turn = last if silent else last + 1
    closes = _CLOSES.search(end) or any(_OPEN_QUESTION.search(s.text) for s in now)
    # What the reply asks, offers or promises at its end.
    open_ends = (s.text for s in reversed(now[-2:]) if s.act in ("asked", "offered", "promised"))
    offered = "" if _APPROVES.search(end) and not closes else next(open_ends, "")
    undone = next((s.text for s in now if s.act in ("refused", "undone")), "")
    # To read the parts takes long, and most replies leave nothing open.
    asks = (offered or undone) and not any(s.act == "done" for s in now)
    parts = read_parts(until) if asks and scenario.task.parts else ()
    deeds = [p for p in parts if p.part.kind == "done" and not p.part.never]
    idle = asks and all(p.state not in ("done", "wrong") for p in deeds)
    if offered and idle:
        text = f'ends the dialogue although the assistant still asks or promises: "{offered}"'
        yield UserFault(code="ended-early", turn=turn, quote=end, text=text)
    elif undone and idle and deeds and _THANKS.search(end):
        text = f'thanks the assistant, which says that it is not done: "{undone}"'
        yield UserFault(code="thanked-early", turn=turn, quote=end, text=text)
    elif _THANKS.search(end):
        for reading in until.readings.values():
            exact = reading.fact.kind != "duration" and not is_taste(reading.fact)
            if reading.state == "contradicted" and reading.turn == last and exact:
                wanted = reading.fact.says or " or ".join(reading.fact.right)
                text = f"thanks the assistant, which has {reading.said} for {wanted} ({reading.fact.what})"
                yield UserFault(code="thanked-early", turn=turn, quote=end, text=text)
                return


def _is_content(text: str) -> bool:
    """True if a message does nothing but close the dialogue, and is content."""
    goes_on = len(_WORD.findall(text)) > _MOST_WORDS or _GIVES_UP.search(text) or _ANSWERS.search(text)
    return not goes_on and bool(_CLOSES.search(text) or _THANKS.search(text))
