"""The turn loop between a user agent and an assistant, its ends and its limits."""

from __future__ import annotations

import copy
import json
import sysconfig
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from pytest_personalens.core.errors import (
    AssistantFault,
    PersonalensError,
    UserAgentFault,
    ends_the_run,
    error_text,
)
from pytest_personalens.core.message import AssistantMessages as AssistantMessages
from pytest_personalens.core.message import Message as Message
from pytest_personalens.core.message import texts
from pytest_personalens.core.redaction import redacted
from pytest_personalens.core.reply import MAX_REPLY_CHARS as MAX_REPLY_CHARS
from pytest_personalens.core.reply import Reply, read_reply
from pytest_personalens.core.scenario import BaseScenario, Frozen, clean
from pytest_personalens.core.stream import drained

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

#: Characters of what an exception says that are kept.
_LONGEST_ERROR: Final = 300
#: Folders of Python's own modules and of installed packages.
_LIBRARIES: Final = tuple(
    {sysconfig.get_paths()[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
)


class Dialogue(Frozen):
    """The transcript of one simulated dialogue: the turns of the user and of the assistant.

    `end` is "user" (the user agent ended it, and its last message was answered), "silence" (it ended without
    a closing word), "limit" (the turn limit cut it short; the last user message is unanswered) or "fault"
    (somebody broke off; `messages` holds the transcript so far).
    """

    messages: tuple[Message, ...] = ()
    end: Literal["user", "silence", "limit", "fault"] = "user"

    @property
    def truncated(self) -> bool:
        """True if the turn limit ended the dialogue and not the user."""
        return self.end == "limit"

    @property
    def acts(self) -> bool:
        """True where a turn tells which tools the assistant called, be it none."""
        return any(m.acts for m in self.messages)

    @property
    def user_turns(self) -> int:
        """Number of messages by the user."""
        return sum(m.role == "user" for m in self.messages)


class UserTurn(NamedTuple):
    """What a user agent says next; `done` ends the dialogue after one last reply of the assistant."""

    content: str
    done: bool = False


class UserAgent(Protocol):
    """Plays the user of a scenario.

    `identity` names the agent, its version and all that shapes its answers; `paid` is true when a turn costs
    money, and then it is only asked when the run may spend. Where it has an attribute `keeps_empty` that is
    true, an end without a word stays in the transcript as an empty message and is answered, as in the
    official code.
    """

    identity: str
    paid: bool

    def turn(self, scenario: Any, transcript: Sequence[Message]) -> UserTurn:
        """The next turn of the user of a `Scenario`, or of what its suite has in its place.

        An empty `transcript` asks for the opening. Raises `UserAgentFault`.
        """
        ...


class Outcome(NamedTuple):
    """A dialogue and, when it broke off, whose fault it was."""

    dialogue: Dialogue
    fault: PersonalensError | None = None


def converse(
    scenario: BaseScenario,
    assistant: Callable[[AssistantMessages], object],
    user_agent: UserAgent,
    *,
    max_turns: int = 0,
    progress: Callable[[Dialogue], None] | None = None,
) -> Outcome:
    """Simulate the dialogue of `scenario` by the benchmark's protocol (paper, section 3.1).

    The user agent opens; then up to `max_turns` rounds (0: as many as the scenario has) of assistant and user
    follow. When the user agent is done, the assistant has one last reply. `progress` is called with the
    dialogue so far after every message: `end` is "fault" until the user has ended it. The user agent is never
    shown the assistant's tool calls. Never raises for what an agent does: a fault is returned with the
    transcript so far.
    """
    messages: list[Message] = []
    #: The same as the assistant gets it: what it returned, and not what was kept of it.
    history: AssistantMessages = []
    limit = max_turns or scenario.rounds

    def said(message: Message, *, ended: bool = False) -> None:
        messages.append(message)
        if progress is not None:
            progress(Dialogue(messages=tuple(messages), end="user" if ended else "fault"))

    def asked(turn: UserTurn) -> None:
        history.append({"role": "user", "content": turn.content})
        said(Message(role="user", content=turn.content), ended=turn.done)

    def replied() -> Message:
        turn, own = _reply(assistant, history, scenario)
        history.extend(own)
        return turn

    try:
        turn = _user_turn(user_agent, scenario, messages)
        asked(turn)
        for _ in range(0 if turn.done else limit):
            said(replied())
            turn = _user_turn(user_agent, scenario, messages)
            if turn.done and not turn.content and not getattr(user_agent, "keeps_empty", False):
                # Nothing was said, so there is nothing to answer: no empty message, no further reply.
                return Outcome(Dialogue(messages=tuple(messages), end="silence"))
            asked(turn)
            if turn.done:
                break
        if turn.done:
            messages.append(replied())
            return Outcome(Dialogue(messages=tuple(messages), end="user"))
    except PersonalensError as fault:
        return Outcome(Dialogue(messages=tuple(messages), end="fault"), fault)
    return Outcome(Dialogue(messages=tuple(messages), end="limit"))


def _user_turn(user_agent: UserAgent, scenario: BaseScenario, messages: Sequence[Message]) -> UserTurn:
    try:
        turn = user_agent.turn(scenario, texts(messages))
        said, done = getattr(turn, "content", turn), bool(getattr(turn, "done", False))
    except PersonalensError:
        raise
    except Exception as error:
        if ends_the_run(error):
            raise
        raise UserAgentFault(f"the user agent raised {error_text(error)}") from error
    if said is turn:
        raise UserAgentFault(f"the user agent returned {type(turn).__name__}; it must return a UserTurn")
    if not isinstance(said, str):
        raise UserAgentFault(
            f"the user agent returned {type(said).__name__} as its message; it must be text (str)"
        )
    content = clean(said).strip()
    if not content and not (done and messages):
        raise UserAgentFault("the user agent said nothing and did not end the dialogue")
    return UserTurn(content, done)


def _reply(
    assistant: Callable[[AssistantMessages], object], history: AssistantMessages, scenario: BaseScenario
) -> Reply:
    # A fresh copy each turn: what the assistant does to its list must not rewrite the transcript.
    try:
        reply = drained(assistant(copy.deepcopy(history)))
    except PersonalensError:
        raise
    except Exception as error:
        if ends_the_run(error):
            raise
        raise AssistantFault(
            f"the assistant raised {_shortened(error_text(error))}{_place(error)}"
        ) from error
    if scenario.takes_answers and isinstance(reply, dict) and "answer" in reply:
        reply = _answer_text(reply)
    try:
        return read_reply(reply)
    except PersonalensError:
        raise
    except Exception as error:  # whatever an object of somebody else's does when it is looked at
        raise AssistantFault(
            f"the assistant's reply cannot be read: {_shortened(error_text(error))}"
        ) from error


def _answer_text(reply: dict[object, object]) -> str:
    """A mapping with an answer as the JSON text that stands for it."""
    try:
        return json.dumps(reply, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise AssistantFault(
            f"the assistant returned a mapping that is no JSON ({_shortened(error_text(error))})"
        ) from None


def _shortened(text: str) -> str:
    """At most as long as leaves room for the place after it, without a secret: half of one could not be found
    any more.
    """
    line = redacted(text)
    return line if len(line) <= _LONGEST_ERROR else f"{line[:_LONGEST_ERROR]}..."


def _place(error: Exception) -> str:
    """Where it was raised, by module file and line; no folder above its packages, which differs from machine
    to machine.

    The last line that is the assistant's own, and not one of a library that it called.
    """
    package = str(Path(__file__).parent.parent)
    frames = [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith(package)
    ]
    if not frames:  # it was not even entered
        return "; it is called with one argument, the messages so far" if isinstance(error, TypeError) else ""
    names = [frame.f_code.co_filename for frame, _ in frames]
    own = [
        place
        for place, name in zip(frames, names, strict=True)
        if not name.startswith(_LIBRARIES) and "<" not in name
    ]
    frame, line = (own or frames)[-1]
    return f" ({_module_file(frame)}, line {line})"


def _module_file(frame: FrameType) -> str:
    """Such as ``app/memory.py`` of the module ``app.memory``."""
    path, packages = Path(frame.f_code.co_filename), str(frame.f_globals.get("__name__", "")).split(".")
    if path.stem == "__init__":
        packages.append(path.stem)
    return "/".join(path.parts[-len(packages) :]) if packages[-1] == path.stem else path.name
