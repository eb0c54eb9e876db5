"""Cases of what an assistant returns: messages, tool calls, parts and streams, with mistakes in them."""

from __future__ import annotations

import json
import pickle
from contextlib import suppress
from textwrap import dedent
from typing import Any, Final

from tests.project.fuzz.base import CONFTEST, RUN
from tests.project.fuzz.case import Case, Setup
from tests.project.fuzz.inputs.trees import changed

Tree = Any

_TEXT: Final = "I cannot do that."
#: What becomes of the reply in the assistant: it is returned as it is, as objects, or piece by piece.
_WAYS: Final = {
    "as it is": "def bot(messages):\n    return fresh()",
    "async": "async def bot(messages):\n    return fresh()",
    "objects": "def bot(messages):\n    return objects(fresh(), types.SimpleNamespace)",
    "objects with slots": "def bot(messages):\n    return objects(fresh(), Slotted)",
    "mocks": "def bot(messages):\n    return objects(fresh(), unittest.mock.MagicMock)",
    "read-only mappings": "def bot(messages):\n    return objects(fresh(), Mapping)",
    "a tuple": "def bot(messages):\n    return tuple(fresh()) if isinstance(fresh(), list) else (fresh(),)",
    "after the conversation": "def bot(messages):\n    return messages + pieces()",
    "a generator": "def bot(messages):\n    yield from pieces()",
    "a generator of objects": "def bot(messages):\n    yield from objects(pieces(), types.SimpleNamespace)",
    "an async generator": "async def bot(messages):\n    for piece in pieces():\n        yield piece",
    "a coroutine of a generator": "async def bot(messages):\n    return iter(pieces())",
    "a generator of generators": "def bot(messages):\n    yield from (iter([piece]) for piece in pieces())",
    "a generator that breaks": "def bot(messages):\n    yield from pieces()\n    raise ConnectionError('reset\\nby peer')",
    "a generator without end": "def bot(messages):\n    while True:\n        yield from pieces() or ['']",
    "its own list": "SAID = []\ndef bot(messages):\n    SAID.extend(pieces())\n    return SAID",
    "in itself": "def bot(messages):\n    reply = pieces()\n    reply.append({'role': 'assistant', 'content': 'no', 'of': reply})\n    return reply",
}  # fmt: skip
_HELP: Final = """
    import pickle, types, unittest.mock
    from pathlib import Path

    class Slotted:
        __slots__ = ("role", "content", "tool_calls", "tool_call_id", "id", "function", "name", "arguments")
        def __init__(self, **fields):
            for name, value in fields.items():
                if name in self.__slots__:
                    setattr(self, name, value)

    def Mapping(**fields):
        return types.MappingProxyType(fields)

    def fresh():
        return pickle.loads(Path(__file__).with_name("reply.pickle").read_bytes())

    def pieces():
        return fresh() if isinstance(fresh(), list) else [fresh()]

    def objects(tree, kind):
        if isinstance(tree, list):
            return [objects(one, kind) for one in tree]
        if isinstance(tree, dict):
            return kind(**{str(key): objects(one, kind) for key, one in tree.items()})
        return tree
"""
_FIXTURE: Final = """
    @pytest.fixture(scope="session")
    def personalens_assistant():
        return bot
"""
_MODEL: Final = ("--personalens-judge-model=acme:x", "--personalens-record", "live")
#: Who reads the calls of the replies: judges, reports, records.
_READERS: Final = (
    (), ("--personalens-dimensions=tc,p,unbacked",), (*_MODEL, "--personalens-dimensions=tc,unbacked"), ("--personalens-report=out.html",),
    ("--personalens-report=out.md", "--junitxml=j.xml"), ("--personalens-report=out.json", "-v"), ("-opersonalens_parallel=2",), ("--personalens-record=new",),
    (*_MODEL, "--personalens-resume"), ("--personalens-trials=2", "--tb=long"),
)  # fmt: skip


def reply(setup: Setup) -> Case:
    """What an assistant returns: of any shape that one may return, with something wrong in it."""
    rng = setup.rng
    name = rng.choice(sorted(_REPLIES))
    tree, told = _REPLIES[name], [name]
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        tree, what = changed(tree, rng)
        told.append(what)
    way = rng.choice(sorted(_WAYS))
    more = rng.choice(_READERS)
    setup.write("conftest.py", "\n".join(map(dedent, (CONFTEST, _HELP, _WAYS[way], _FIXTURE))))
    with suppress(RecursionError):  # too deep to be written; the case is then one of a file that is missing
        (setup.repo / "reply.pickle").write_bytes(pickle.dumps(tree))
    limit = "-opersonalens_turn_timeout=0.5"
    what = f"{way}: {'; '.join(told)} {' '.join(more)}"
    return Case(ascii(what)[:250], (*RUN, limit, *more), writes=True)


def _call(name: str = "note", arguments: Tree = '{"people": 2}', key: str = "c1") -> dict[str, Tree]:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def _asks(*calls: Tree) -> dict[str, Tree]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def _result(content: Tree = '{"ok": true}', key: str = "c1") -> dict[str, Tree]:
    return {"role": "tool", "tool_call_id": key, "content": content}


def _chunks(*deltas: Tree) -> list[Tree]:
    return [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]


def _piece(arguments: str, **more: Tree) -> dict[str, Tree]:
    return {"tool_calls": [{"index": 0, **more, "function": {"name": "note", "arguments": arguments}}]}


_SAID: Final = {"role": "assistant", "content": _TEXT}
_MANY: Final = [f"c{number}" for number in range(1_000)]
_DEEP: Final = json.dumps({"a": 1}) + "[" * 100_000
#: What may be returned, and what the section "What is kept" of the page about tool calls says of odd ones.
_REPLIES: Final[dict[str, Tree]] = {
    "a text": _TEXT,
    "a message": _SAID,
    "a message with a call": {**_SAID, "tool_calls": [_call()]},
    "a list of one": [_SAID],
    "a call": [_asks(_call()), _result(), _SAID],
    "two calls": [_asks(_call(), _call(key="c2")), _result(), _result("Error: no", "c2"), _SAID],
    "calls one after the other": [_asks(_call()), _result(), _asks(_call(key="c2")), _result(key="c2"), _SAID],
    "after a user message": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}, _asks(_call()), _result(), _SAID],
    "parts": [_asks(_call()), _result([{"type": "text", "text": "ok"}]), {**_SAID, "content": [{"type": "text", "text": _TEXT}, {"type": "image_url"}]}],
    "arguments that are data": [_asks(_call(arguments={"people": [1, {"a": None}]})), _result({"ok": True}), _SAID],
    "arguments that are no JSON": [_asks(_call(arguments='{"people": ')), _result(), _SAID],
    "deep arguments": [_asks(_call(arguments=_DEEP)), _result(_DEEP), _SAID],
    "a result without its call": [_result(key="nobody"), _SAID],
    "a call without a result": [_asks(_call()), _SAID],
    "many calls": [_asks(*(_call(key=key) for key in _MANY)), *(_result(key=key) for key in _MANY), _SAID],
    "a huge result": [_asks(_call()), _result("y" * 10_000_000), _SAID],
    "control characters": [_asks(_call(name="a\x1b[31m\r\n::error::x\x00\ud83d")), _result("\x1b[2J\u202e"), _SAID],
    "a result at the end": [_asks(_call()), _result()],
    "a call at the end": [_SAID, _asks(_call())],
    "a custom tool": [_asks({"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "x"}}), _result(), _SAID],
    "calls of LangChain": {**_SAID, "tool_calls": [{"id": "c1", "name": "note", "args": {}, "type": "tool_call"}]},
    "pieces of a text": ["I cannot ", "do that."],
    "deltas": _chunks({"role": "assistant", "content": ""}, {"content": "I cannot "}, {"content": "do that."}),
    "deltas with a call": [*_chunks(_piece('{"peop', id="c1"), _piece('le": 2}')), _result(), *_chunks({"content": _TEXT}), {"choices": [], "usage": {}}],
    "a chat completion": {"choices": [{"message": _SAID}]},
    "messages in a mapping": {"messages": [_asks(_call()), _result(), _SAID]},
}  # fmt: skip
