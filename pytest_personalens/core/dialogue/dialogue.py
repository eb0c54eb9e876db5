"""The turn loop between a user agent and an assistant, with its limits."""

from __future__ import annotations

import copy
import json
import sysconfig
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple, Protocol

from pydantic import PrivateAttr

from pytest_personalens.core.dialogue.message import AssistantMessages as AssistantMessages
from pytest_personalens.core.dialogue.message import Call, calls_of, strip_tool_calls, without_secrets
from pytest_personalens.core.dialogue.message import Message as Message
from pytest_personalens.core.dialogue.reply import MAX_REPLY_CHARS as MAX_REPLY_CHARS
from pytest_personalens.core.dialogue.reply import Reply, read_reply, read_stream
from pytest_personalens.core.dialogue.state import State
from pytest_personalens.core.errors import (
    AssistantFault,
    PersonalensError,
    UserAgentFault,
    error_text,
    faults_of,
    short_repr,
)
from pytest_personalens.core.facts import StoreLook
from pytest_personalens.core.frozen import Frozen, Sparse, clean
from pytest_personalens.core.safe_text import cut_line, make_redactor, redact
from pytest_personalens.core.scenario import BaseScenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType

#: How a dialogue ends; `Dialogue` says what each word means.
End = Literal["user", "unserved", "silence", "limit", "fault"]
#: Number of characters that are kept of an exception's text.
_LONGEST_ERROR: Final = 300
_NO_ARGUMENT: Final = "; it is called with one argument, the messages so far"
#: Folders of Python's own modules and of installed packages.
_LIBRARIES: Final = tuple(map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")))


class Raised(Frozen):
    """Who of the team's code raised what: the exception's name and text, and the line of the team that did.

    `file` starts at its package, so that it is the same anywhere; it is empty, and `line` 0, where no line of
    the team ran.
    """

    who: str
    error: str
    text: str = ""
    file: str = ""
    line: int = 0

    @classmethod
    def read(cls, who: str, error: Exception) -> Raised:
        """Return what `describe_exception` tells of an exception, as a value."""
        name, own = type(error).__name__, find_own_frame(error)
        text = " ".join(clean(_shortened(error_text(error))).removeprefix(f"{name}: ").split())
        file, line = (_module_file(own[0]), own[1]) if own else ("", 0)
        return cls(who=who, error=name, text=text, file=file, line=line)


class Dialogue(Sparse):
    """The transcript of one simulated dialogue between the user and the assistant.

    `end` says how the dialogue ended:

    - "user": the user agent ended it, and the assistant answered its last message.
    - "unserved": the user agent ended it in the same ways, and says that it was not served.
    - "silence": the user agent ended it without a last message.
    - "limit": the turn limit ended it. The last user message has no answer.
    - "fault": the dialogue broke off. `messages` holds the transcript so far.

    `state` is what the team's system held after the dialogue, and `store` what its memory store held before
    the last session; None if nothing says so.
    """

    messages: tuple[Message, ...] = ()
    end: End = "user"
    state: State | None = None
    store: StoreLook | None = None
    rare: ClassVar[Mapping[str, object]] = {"state": None, "store": None}
    #: Who broke the dialogue off, and how; known in the process that ran it.
    _fault: str = PrivateAttr("")

    def broken_off(self, fault: str) -> Dialogue:
        """Return the dialogue with the party at fault, for whoever asks for its tool calls."""
        dialogue = self.model_copy()
        dialogue._fault = fault  # noqa: SLF001 (its own class)
        return dialogue

    @property
    def truncated(self) -> bool:
        """True if the turn limit ended the dialogue, and not the user."""
        return self.end == "limit"

    @property
    def acts(self) -> bool:
        """True if a turn tells which tools the assistant called, even if it called none."""
        return any(m.acts for m in self.messages)

    def tool_calls(self, name: str = "") -> list[Call]:
        """The assistant's tool calls in order, those of the tool `name` where one is given.

        Raise `AssertionError` if the dialogue broke off: what the assistant did not do is then unknown.
        """
        __tracebackhide__ = True
        if self._fault or self.end == "fault":
            raise AssertionError(f"the dialogue was not scored{', ' if self._fault else ''}{self._fault}")
        return [call for call in calls_of(self.messages) if not name or call.name == name]

    @property
    def user_turns(self) -> int:
        """Number of messages by the user."""
        return sum(m.role == "user" for m in self.messages)


class UserTurn(NamedTuple):
    """The next message of a user agent; `done` ends the dialogue after one last reply of the assistant.

    `served` has a meaning with `done` only: false if the user leaves without what it came for.

    `session` names the session of the message. With another name than before, a new session begins: the
    assistant gets none of the earlier messages.
    """

    content: str
    done: bool = False
    session: str = ""
    served: bool = True


class UserAgent(Protocol):
    """An agent that plays the user of a scenario.

    `identity` names the agent, its version and everything that shapes its answers. `paid` is true if a turn
    costs money; the run then asks the agent only if it may spend money.

    An agent may have an attribute `keeps_empty`. If it is true, an empty last message stays in the transcript
    and the assistant answers it, as in the official code. It may have an attribute `manners`, which maps the
    names of manners to user agents that speak so.
    """

    identity: str
    paid: bool

    def turn(self, scenario: Any, transcript: Sequence[Message]) -> UserTurn:
        """Return the next turn of the user; it is the opening if `transcript` is empty.

        `scenario` is the scenario of the suite. Raise `UserAgentFault` if the agent fails.
        """
        ...


class Outcome(NamedTuple):
    """A dialogue and, if it broke off, the fault that ended it."""

    dialogue: Dialogue
    fault: PersonalensError | None = None


def converse(
    scenario: BaseScenario,
    assistant: Callable[[AssistantMessages], object],
    user_agent: UserAgent,
    *,
    max_turns: int = 0,
    progress: Callable[[Dialogue], None] | None = None,
    in_session: Callable[[str], Callable[[AssistantMessages], object]] | None = None,
) -> Outcome:
    """Simulate the dialogue of `scenario` by the benchmark's protocol (paper, section 3.1).

    The user agent opens the dialogue. At most `max_turns` rounds follow, each with a message of the assistant
    and one of the user. A `max_turns` of 0 means the number of rounds of the scenario. When the user agent is
    done, the assistant gives one last reply.

    The function calls `progress` with the dialogue so far after every message. `end` is "fault" until the
    user has ended the dialogue. The user agent never sees the assistant's tool calls. Of the secrets that
    this process knows, nobody but the assistant itself sees more than ``***``.

    Where the user agent names sessions, `in_session` returns the assistant as it is called in one of them.

    A fault of an agent is never raised. The function returns it with the transcript so far.
    """
    messages: list[Message] = []
    #: The messages as the assistant gets them: with everything that it returned, and not only the part that
    #: is kept.
    history: AssistantMessages = []
    limit = max_turns or scenario.rounds
    session, scrub = "", make_redactor()

    def said(message: Message, end: End = "fault") -> None:
        messages.append(message)
        if progress is not None:
            progress(Dialogue(messages=tuple(messages), end=end))

    def asked(turn: UserTurn) -> None:
        nonlocal assistant, session
        if turn.session != session:
            session = turn.session
            history.clear()
            if in_session is not None:
                assistant = in_session(session)
        turn = turn._replace(content=scrub(turn.content))
        history.append({"role": "user", "content": turn.content})
        message = Message(role="user", content=turn.content, session=session)
        said(message, _end(turn) if turn.done else "fault")

    def replied() -> Message:
        turn, raw_messages = _reply(assistant, history, scenario)
        turn = without_secrets(turn, scrub)
        history.extend(raw_messages)
        return turn.model_copy(update={"session": session}) if session else turn

    try:
        turn = _user_turn(user_agent, scenario, messages)
        asked(turn)
        for _ in range(0 if turn.done else limit):
            said(replied())
            turn = _user_turn(user_agent, scenario, messages)
            if turn.done and not turn.content and not getattr(user_agent, "keeps_empty", False):
                # The user said nothing, so the dialogue gets no empty message and no further reply.
                return Outcome(Dialogue(messages=tuple(messages), end=_end(turn, "silence")))
            asked(turn)
            if turn.done:
                break
        if turn.done:
            messages.append(replied())
            return Outcome(Dialogue(messages=tuple(messages), end=_end(turn)))
    except PersonalensError as fault:
        return Outcome(Dialogue(messages=tuple(messages), end="fault"), fault)
    return Outcome(Dialogue(messages=tuple(messages), end="limit"))


def _end(last: UserTurn, served: End = "user") -> End:
    """Return how the user's last turn ends the dialogue, if it was served and if not."""
    return served if last.served else "unserved"


def _user_turn(user_agent: UserAgent, scenario: BaseScenario, messages: Sequence[Message]) -> UserTurn:
    with faults_of("the user agent", UserAgentFault):
        turn = user_agent.turn(scenario, strip_tool_calls(messages))
        said, done = getattr(turn, "content", turn), bool(getattr(turn, "done", False))
    if said is turn:
        raise UserAgentFault(f"the user agent returned {type(turn).__name__}; it must return a UserTurn")
    if not isinstance(said, str):
        kind = type(said).__name__
        raise UserAgentFault(f"the user agent returned {kind} as its message; it must be text (str)")
    content = clean(said).strip()
    if not content and not (done and messages):
        raise UserAgentFault("the user agent said nothing and did not end the dialogue")
    return UserTurn(content, done, getattr(turn, "session", ""), bool(getattr(turn, "served", True)))


def _reply(
    assistant: Callable[[AssistantMessages], object], history: AssistantMessages, scenario: BaseScenario
) -> Reply:
    # The assistant gets a new copy each turn, because it may change its list and must not change the
    # transcript.
    with faults_of("the assistant", AssistantFault, describe_exception):
        reply = read_stream(assistant(list(map(_copy_of, history))))
    if scenario.takes_answers and isinstance(reply, dict) and "answer" in reply:
        reply = _answer_text(reply)
    elif scenario.takes_answers and isinstance(reply, dict) and "content" not in reply:
        raise AssistantFault(f"the assistant returned a mapping without 'answer': {short_repr(reply, 60)}")
    try:
        return read_reply(reply)
    except PersonalensError:
        raise
    except Exception as error:  # an object of another library may raise anything when it is read
        told = _shortened(error_text(error))
        raise AssistantFault(f"the assistant's reply cannot be read: {told}") from error


def _copy_of(message: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a message; one of texts alone needs no deep one."""
    return dict(message) if all(type(v) is str for v in message.values()) else copy.deepcopy(message)


def _answer_text(reply: dict[object, object]) -> str:
    try:
        return json.dumps(reply, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        told = _shortened(error_text(error))
        raise AssistantFault(f"the assistant returned a mapping that is no JSON ({told})") from None


def describe_exception(error: Exception) -> str:
    """Return an exception of the team's code in a line: what it says, and where it was raised."""
    told, own = _shortened(error_text(error)), find_own_frame(error)
    if own is not None:
        return f"{told} ({_module_file(own[0])}, line {own[1]})"
    return f"{told}{_NO_ARGUMENT}" if isinstance(error, TypeError) else told


def _shortened(text: str) -> str:
    """Return the text cut to leave room for a place; half of a secret could not be recognized after that."""
    return cut_line(redact(text), _LONGEST_ERROR)


def find_own_frame(error: BaseException) -> tuple[FrameType, int] | None:
    """Return the last frame that is in no library, with its line; None if no line of the assistant ran."""
    package, frames, own = str(Path(__file__).parents[2]), [], []
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = frame.f_code.co_filename
        if not name.startswith(package):
            frames.append((frame, line))
            own += [(frame, line)] if not name.startswith(_LIBRARIES) and "<" not in name else []
    return (own or frames)[-1] if frames else None


def _module_file(frame: FrameType) -> str:
    """Return the path of a frame's file from its package on."""
    path, packages = Path(frame.f_code.co_filename), str(frame.f_globals.get("__name__", "")).split(".")
    if path.stem == "__init__":
        packages.append(path.stem)
    return "/".join(path.parts[-len(packages) :]) if packages[-1] == path.stem else path.name
