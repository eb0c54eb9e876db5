"""Cases of what a team writes in Python: assistants, contexts, datasets, agents and models."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import Final

from tests.project.fuzz.base import CONFTEST, RUN
from tests.project.fuzz.case import Case, Setup

#: What a function of somebody's own may return, or do.
_BODIES: Final = (
    "return None", "return 0", "return ''", "return '   '", "return b'bytes'", "return []", "return {}", "return {'content': 'x'}", "return object()",
    "return ['x']", "return ('x', 'y')", "return float('nan')", "return '\\ud83d'", "return '\\x00\\x1b[31m'", "return 'x' * 200_000", "return lambda: 'x'",
    "return type('T', (str,), {'strip': lambda s: 5})('x')", "return type('T', (), {'__str__': lambda s: 1 / 0, '__repr__': lambda s: 1 / 0})()",
    "raise RuntimeError", "raise RuntimeError('a\\nb')", "raise ValueError('\\ud83d\\x1b[31m')", "raise KeyError('x')", "raise StopIteration", "raise RecursionError",
    "raise NotImplementedError", "raise AssertionError('no')", "raise MemoryError", "raise TimeoutError", "raise GeneratorExit", "raise OSError(5, 'io')",
    "raise UnicodeDecodeError('utf-8', b'', 0, 1, 'x')", "raise type('E', (Exception,), {'__str__': lambda s: 1 / 0})()", "raise ExceptionGroup('g', [ValueError()])",
    "raise type('E', (Exception,), {'__str__': lambda s: None})()", "raise UnicodeEncodeError('utf-8', 'x', 0, 1, 'x')",
    "import sys; sys.exit(0)", "import sys; sys.exit('done')", "yield 'x'", "import pytest; pytest.skip('no')", "import pytest; pytest.xfail('no')",
    "import pytest; pytest.fail('no')", "import pytest; pytest.exit('no', returncode=0)", "import warnings; warnings.warn('odd'); return 'x'",
    "import os; os.chdir('/'); return 'I cannot do that.'", "import sys; sys.stdout = None; return 'no'",
    "import locale, time; time.sleep(0.001); return 'no'", "import os; os.environ.clear(); return 'no'", "import signal; signal.alarm(0); return 'no'",
    "import threading; threading.Thread(target=int).start(); return 'no'", "import gc; gc.disable(); return 'no'",
)  # fmt: skip
_CALLABLES: Final = (
    "None", "0", "'text'", "object()", "print", "len", "str", "int", "dict", "type", "lambda: 'x'", "lambda a, b: 'x'", "lambda *a, **k: a", "lambda messages, /: 'no'",
    "lambda *, messages: 'x'", "lambda messages, context: 'no'", "lambda context: 'no'", "lambda messages, *, context=None: 'no'", "[].append", "'x'.join", "iter([])",
    "(x for x in 'ab')", "class_with(call=True)", "class_with(call=False)", "class_with", "type('C', (), {})", "type('C', (), {'invoke': lambda s, m: 'x'})()",
    "asyncio.sleep", "coroutine()", "agen()", "functools.partial(lambda m, n: 'x')", "functools.partial(lambda m, n: 'no', n=1)", "NotImplemented", "Exception", "{}", "[]",
    "pytest", "type('C', (), {'__call__': None})()", "type('C', (), {'__call__': property(lambda s: 1 / 0)})()", "type('C', (), {'__getattr__': lambda s, n: 1 / 0})()",
    "type('C', (), {'__getattr__': lambda s, n: (lambda *a, **k: s), '__call__': lambda s, m: 'no'})()", "unittest.mock.Mock()", "unittest.mock.MagicMock(return_value='no')",
    "unittest.mock.AsyncMock()", "unittest.mock.AsyncMock(return_value='no')",
)  # fmt: skip
_HELP: Final = """
    import asyncio, functools, unittest.mock, warnings

    class class_with:
        def __init__(self, call=True):
            self.call = call
        def __call__(self, messages):
            if not self.call:
                raise TypeError("no")
            return "I cannot do that."

    class Model:
        name, paid = "odd", True

    async def coroutine():
        return "x"

    async def agen():
        yield "x"

    warnings.simplefilter("ignore", RuntimeWarning)
"""
#: Decorators of a fixture: its scope, its name, its parameters.
_FIXTURES: Final = ("@pytest.fixture", "@pytest.fixture", "@pytest.fixture", '@pytest.fixture(scope="session")', '@pytest.fixture(scope="module")', "@pytest.fixture(params=[1, 2])", "@pytest.fixture(autouse=True)", "")  # fmt: skip


_WANTED: Final = ("", "", "personalens_context", "personalens_scenario", "request", "nope", "personalens", "personalens_assistant")  # fmt: skip
#: What a hook for the lines of a report may return, and attributes of an agent that hold anything.
_LINES: Final = (
    "None", "5", "'text'", "['a', 5]", "[None]", "{}", "['\\ud83d\\x1b[31m']", "object()", "iter(['x'])", "[b'x']", "[['x']]", "[object()]",
)  # fmt: skip
_ATTRIBUTES: Final = (
    "identity = None", "identity = 5", "identity = ''", "name = None", "paid = None", "paid = 'x'", "identity = '\\ud83d\\n'", "dimensions = None",
    "dimensions = ('x',)", "parallel = 'x'", "deterministic = None", "name = 'a\\nb'",
)  # fmt: skip


def _conftest(setup: Setup, *parts: str) -> None:
    setup.write("conftest.py", "\n".join(dedent(part) for part in (CONFTEST, *parts)))


def _options(setup: Setup) -> tuple[str, ...]:
    ways = ((), (), (), ("-opersonalens_parallel=2",), ("--personalens-control=no-context",), ("--personalens-trials=2",), ("-opersonalens_turn_timeout=0.5",), ("--tb=long",), ("--personalens-report=out.json",))  # fmt: skip
    return setup.rng.choice(ways)


def assistant(setup: Setup) -> Case:
    """The fixture with the assistant: of any kind, or one that does anything when it is called."""
    rng, more = setup.rng, _options(setup)
    head, asynchronous = rng.choice(_FIXTURES), rng.choice(("", "", "async "))
    if rng.random() < 0.45:
        returns, told = rng.choice(("return", "return", "return", "yield")), rng.choice(_CALLABLES)
        function = (
            f"{head}\n{asynchronous}def personalens_assistant({rng.choice(_WANTED)}):\n    {returns} {told}\n"
        )
    elif rng.random() < 0.2:
        function = f"{head}\ndef personalens_assistant():\n    {rng.choice(_BODIES)}\n"
    else:
        parameters = rng.choice((*("messages",) * 3, "messages, context", "*messages", "self", ""))
        bot = f"{asynchronous}def bot({parameters}):\n    {rng.choice(_BODIES)}\n"
        function = f"{head}\ndef personalens_assistant():\n{indent(bot, '    ')}    return bot\n"
    _conftest(setup, _HELP, function)
    return Case(f"{function!r} {' '.join(more)}"[:250], (*RUN, *more), writes=True)


_CONTEXT: Final = "def personalens_context_of():\n    from pytest_personalens.core.scenario import Context\n    return Context(user='')\n"


def context(setup: Setup) -> Case:
    """Fixtures of ours that somebody overrides with anything."""
    rng, more = setup.rng, _options(setup)
    names = (*("personalens_context",) * 2, "personalens_scenario", "personalens", "snapshot")
    name, returned = rng.choice(names), (f"return {one}" for one in _CALLABLES[:12])
    own = ("return personalens_context_of()", "yield None", "yield 1; yield 2")
    body = rng.choice((*_BODIES, *own, *returned))
    wanted = rng.choice(("", "", name, "request", "personalens_scenario", "personalens_assistant"))
    function = f"{rng.choice(_FIXTURES[:6])}\ndef {name}({wanted}):\n    {body}\n"
    _conftest(setup, _HELP, _CONTEXT, function)
    return Case(f"{function!r} {' '.join(more)}"[:250], (*RUN, *more), writes=True)


_DATASET: Final = """
from pytest_personalens.core.scenario import Scenario, ScenarioRef, Situation, Task

class Support:
    name, version = "support", "3"

    def domains(self):
        return ("Billing",)

    def users(self):
        return ("acme", "globex")

    def refs(self, user):
        return [ScenarioRef(user, "billing-1", "single", ("Billing",))]

    def load(self, ref):
        return Scenario(
            id=ref.id, user=ref.user, dataset=f"{self.name} {self.version}", kind=ref.kind, domains=ref.domains, demographics={"plan": "enterprise"},
            preferences={"Billing": {"Invoice Format": ("PDF by mail",)}}, summaries={"Billing": "They asked twice for the invoice by mail."},
            situation=Situation(location="office", device="Laptop", time_of_day="Morning", day_of_week="Monday", environment="Quiet"),
            task=Task(id=ref.task, description="The user needs an invoice.", intent="You want to have last month's invoice.",
                      goal="The invoice is sent; to whom has been stated.", relevant=(("Billing", "Invoice Format"),)),
        )
"""
_INNER: Final = ("domains", "users", "refs", "load")
#: Pieces of the dataset above that something else takes the place of.
_PIECES: Final = (
    '"support"', '"3"', '("Billing",)', '("acme", "globex")', '"billing-1"', '"single"', "ref.id", "ref.user", "ref.kind", "ref.domains", '{"plan": "enterprise"}',
    '{"Billing": {"Invoice Format": ("PDF by mail",)}}', '("PDF by mail",)', '{"Billing": "They asked twice for the invoice by mail."}', '"office"', '"Laptop"',
    "ref.task", '"The user needs an invoice."', '"You want to have last month\'s invoice."', '"The invoice is sent; to whom has been stated."',
    '(("Billing", "Invoice Format"),)', '"Invoice Format"',
)  # fmt: skip
_VALUES: Final = (
    "None", "0", "-1", "''", "' '", "'\\n'", "'x' * 100_000", "'\\ud83d'", "'\\x00'", "'\\x1b[31m'", "'../x'", "'a/b'", "'İ'", "b'x'", "[]", "()", "{}", "set()", "[None]", "('x',)",
    "('Billing', 'Billing')", "('Other',)", "'multi'", "'Billing'", "{'': ''}", "{'Billing': {}}", "{'Billing': {'': ('',)}}", "{1: 2}", "{'Billing': None}", "object()", "print",
    "float('nan')", "('acme', 'acme')", "('', 'acme')", "('acme\\n', 'globex')", "range(3)", "iter([])", "(x for x in 'ab')", "10**400", "True", "type('T', (str,), {})('x')",
    "('globex', 'acme') * 2000", "(('Billing', 'Nope'),)", "(('Nope', 'Nope'),)", "'${x}'", "'<b>x</b>'", "1 / 0",
)  # fmt: skip


def dataset(setup: Setup) -> Case:
    """A dataset of one's own, as an object."""
    rng, text, told = setup.rng, _DATASET, ""
    if setup.mutates and rng.random() < 0.65:
        piece, other = rng.choice(_PIECES), rng.choice(_VALUES)
        told, text = f"{piece} -> {other}", text.replace(piece, f"({other})")
    elif setup.mutates and rng.random() < 0.8:
        name, body = rng.choice(_INNER), rng.choice(_BODIES)
        told = f"{name}: {body}"
        head = f"    def {name}(self{', user' if name == 'refs' else ', ref' if name == 'load' else ''}):\n"
        text += f"\n{head}        {body}\n"
    others = ("Support", "None", "0", "'x'", "object()", "type('S', (), {})()", "unittest.mock.MagicMock()")
    offered = rng.choice(others) if setup.mutates and not told else "Support()"
    hook = f"\ndef pytest_personalens_dataset(spec, config):\n    return {offered} if spec == 'support' else None\n"
    _conftest(setup, _HELP, text + hook)
    more = rng.choice(((), (), ("--personalens-report=out.json",), ("--personalens-report=out.html",), ("--personalens-control=other-user",), ("--personalens-report=out.md", "--junitxml=j.xml"))) if setup.mutates else ()  # fmt: skip
    gate = RUN[2] if not setup.good else "--personalens-gate=tcr >= 0"
    given = (RUN[0], gate, "--personalens-data=support", "--personalens-judge-model=told", *more)
    return Case(f"{told or offered} {' '.join(more)}", given, writes=True)


#: Class -> its method, the hook that offers it, and the option that names it.
_AGENTS: Final = {"User": ("turn", "user_agent", "user"), "Judge": ("verdict", "judge", "judge"), "Model": ("complete", "model", "judge")}  # fmt: skip
_ANSWERS: Final = (
    *_BODIES, "return UserTurn(None)", "return UserTurn(5, done='x')", "return UserTurn('', done=True)", "return UserTurn('\\ud83d')", "return UserTurn('x' * 200_000)",
    "return UserTurn('hello', done=None)", "return UserTurn(type('T', (str,), {})('bye'), done=1)", "return ('hello', True)", "return Answer(text=None)",
    "return Answer(text='')", "return Answer(text='{\"score\": 1e400}')", "return Answer(data={})", "return Answer(data=[])", "return Answer(data={'score': None})",
    "return Answer(data={'score': 'x', 'evidence': 5, 'justification': None})", "return Answer(text='x', input_tokens=-1, output_tokens='a')", "return Answer(input_tokens=float('nan'), output_tokens=0, data={'score': 1, 'justification': 'x', 'evidence': []})",
    "return Answer(text='[' * 100_000)", "return Answer(text='{\"score\": ' + '9' * 5000 + '}')", "return Answer(data={'score': 0, 'justification': 'x', 'evidence': [{'turn': 10**30, 'quote': 5}]})",
    "return Verdict.model_construct(dimension=None, score=None)", "return Verdict.model_construct(dimension=args[-1], score=99, justification=None)",
    "return Verdict.model_construct(dimension=args[-1], score='1', justification='x', evidence=(), reasons=(), turns=(), votes=())", "return args[-1]",
)  # fmt: skip


def agent(setup: Setup) -> Case:
    """A user agent, a judge or a model of one's own, or an observer's hook."""
    rng, more = setup.rng, _options(setup)
    if rng.random() < 0.15:
        value = rng.choice(_LINES)
        _conftest(setup, f"def pytest_personalens_report_lines(results, config):\n    return {value}\n")
        return Case(f"report lines {value}", (*RUN, *more), writes=True)
    name = rng.choice(sorted(_AGENTS))
    method, kind, option = _AGENTS[name]
    answer, attributes = rng.choice(_ANSWERS), rng.choice(("",) * 6 + _ATTRIBUTES)
    odd = f"class Odd({name}):\n    {attributes or 'odd = True'}\n    def {method}(self, *args, **kwargs):\n        {answer}\n"
    offered = rng.choice(("Odd()",) * 8 + ("Odd", "object()", "'x'", "5"))
    hook = f"def pytest_personalens_{kind}(spec):\n    return {offered} if spec == 'odd' else None\n"
    _conftest(setup, _HELP, odd, hook)
    spends = ("--personalens-record", "live") if name == "Model" or rng.random() < 0.3 else ()
    what = f"{name}, {attributes} {answer}, {offered} {' '.join(more)}"
    return Case(what, (*RUN, f"--personalens-{option}-model=odd", *spends, *more), writes=True)
