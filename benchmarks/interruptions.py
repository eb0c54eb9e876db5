"""What is paid twice when a run is interrupted: by kills, signals, disks, plugins, clocks, and runs at once.

    python benchmarks/interruptions.py [--only TEXT] [--jobs 2] [--write TABLE.md]

Each trial plays twelve dialogues with a fake model that notes every call: 60 calls when nothing happens. It
is disturbed, run again until the end, and replayed without models. `repeated` counts the prompts that were
asked again; `in flight` those of them that had no answer yet, or got it at most 250 ms before the process
ended, and the 60 that a run under `all` beside another asks anew because it is told to. The exit code is 1 if
a prompt was repeated that was not in flight, or a record differs from that of an undisturbed run. Trials of
disks and of read-only folders mount file systems, and are skipped but for root.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CALLS, DIALOGUES, JUST_BEFORE = 60, 12, 0.25
#: Where all runs keep their bytecode: those of read-only folders and full disks, too.
BYTECODE = Path(tempfile.gettempdir()) / "personalens-bytecode"
CONFTEST = """
import hashlib, os, time
import pytest
from pytest_personalens.models import Answer

if os.environ.get("CLOCK"):
    real, start, pace = time.time, time.time(), float(os.environ["CLOCK"])
    time.time = lambda: (start if pace < 1 else 0.0) + (real() - start) * pace


def note(what, key):
    file = os.open(os.environ["CALLS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{what} {key} {time.monotonic()}\\n".encode())
    os.close(file)


class Model:
    name, paid = "fake", True

    def complete(self, request):
        key = hashlib.sha256(f"{request.prompt}{request.temperature}".encode()).hexdigest()[:16]
        note("begun", key)
        time.sleep(0.03)
        if request.answer is None:
            turns = request.prompt.count('"turn"')
            end = " TERMINATE" if turns >= 4 else ""
            answer = Answer(text=f"I need thing {turns}.{end}", input_tokens=9)
        else:
            yes = request.answer["properties"]["score"]["type"] == "boolean"
            quote = {"turn": 0, "quote": "I need thing 0."}
            form = {"evidence": [quote], "reasons": [], "justification": "so", "score": True if yes else 3}
            answer = Answer(data=form, output_tokens=9)
        note("answered", key)
        return answer


def pytest_personalens_model(spec, config):
    return Model() if spec == "fake" else None


@pytest.fixture(scope="session")
def personalens_assistant():
    def reply(messages, context):
        time.sleep(float(os.environ.get("SLOW", "0")))
        if len(messages) == 5 and os.environ.get("BROKEN"):
            raise ConnectionError("the bot's own service is down")
        return f"It is booked for Thursday at 16:00, reply {len(messages)}."

    return reply
"""
TEST = "def test_bot(personalens):\n    personalens.check()\n"
HOW = {
    "serial": (), "conc8": ("-o", "personalens_parallel=8"), "n2": ("-n", "2"),
    "n2c4": ("-n", "2", "-o", "personalens_parallel=4"),
}  # fmt: skip


class Row(NamedTuple):
    """What a trial came to."""

    name: str
    first: object = ""
    calls: int = 0
    after: int = 0
    repeated: int = 0
    in_flight: int = 0
    rerun: object = ""
    replay: str = ""
    records: int = 0
    equal: str = ""

    @property
    def lost(self) -> int:
        """Prompts paid twice without need."""
        return self.repeated - self.in_flight


class Trial:
    """A project in a folder of its own, with the log of its calls and a user's cache."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.project, self.cache = folder, folder / "project", folder / "cache"
        self.log, self.ended = folder / "calls.log", [0.0]
        self.project.mkdir()
        (self.project / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        (self.project / "test_bot.py").write_text(TEST, encoding="utf-8")
        (self.project / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")

    def start(
        self, *args: str, cwd: Path | None = None, limit: int = 0, **variables: str
    ) -> subprocess.Popen[bytes]:
        """Start pytest in a process group of its own."""
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest", "--personalens-kind", "single",
            "--personalens-sample", str(DIALOGUES), "--personalens-user-model", "fake",
            "--personalens-judge-model", "fake", "--personalens-gate", "none", *args,
        ]  # fmt: skip
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "CALLS": str(self.log), "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(BYTECODE), "PERSONALENS_CACHE_DIR": str(self.cache), **variables,
        }  # fmt: skip

        def prepare() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job of a shell ignores it
            if limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.Popen(
            command, cwd=cwd or self.project, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=prepare,
        )  # fmt: skip

    def end(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for a run, and for all that it started."""
        code = process.wait(timeout=300)
        deadline = time.monotonic() + 30
        with suppress(ProcessLookupError, PermissionError):
            while time.monotonic() < deadline:
                os.killpg(process.pid, 0)
                time.sleep(0.02)
        self.ended.append(time.monotonic())
        return code

    def run(self, *args: str, **more: Any) -> int:
        """Run pytest to its end."""
        return self.end(self.start(*args, **more))

    def killed(
        self, number: signal.Signals, at: int, *args: str, whom: str = "process", times: int = 1, **more: Any
    ) -> int:
        """Run pytest, and send a signal once so many calls have begun."""
        process, goal = self.start(*args, **more), len(self.events("begun")) + at
        while len(self.events("begun")) < goal and process.poll() is None:
            time.sleep(0.005)
        for _ in range(times):
            with suppress(ProcessLookupError):
                if whom == "group":
                    os.killpg(process.pid, number)
                elif whom == "worker":
                    os.kill(_children(process.pid)[-1], number)
                else:
                    os.kill(process.pid, number)
            time.sleep(0.3 if times > 1 else 0)
        return self.end(process)

    def events(self, what: str) -> list[tuple[str, float]]:
        """The calls that began or were answered, with their times."""
        text = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
        # A limit on the size of files cuts a line of this log too.
        whole = (parts for parts in map(str.split, text.splitlines()) if len(parts) == 3)
        return [(key, float(at)) for kind, key, at in whole if kind == what]

    def repeated(self, at_once: bool) -> tuple[int, int]:
        """Prompts that were asked again, and how many of them were in flight."""
        answered: dict[str, list[float]] = {}
        for key, at in self.events("answered"):
            answered.setdefault(key, []).append(at)
        begun: dict[str, int] = {}
        again = flight = 0
        for key, at in self.events("begun"):
            number = begun[key] = begun.get(key, 0) + 1
            if number == 1:
                continue
            again += 1
            times = sorted(answered.get(key, []))
            before = times[number - 2] if len(times) >= number - 1 else at
            late = any(0 <= end - before <= JUST_BEFORE for end in self.ended)
            flight += late or before >= at or (at_once and before >= at)
        return again, flight

    def records(self) -> dict[str, bytes]:
        """The records, by name."""
        return {
            p.name.partition("[")[2]: p.read_bytes() for p in self.project.rglob("__personalens__/*/*.json")
        }


def _children(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return found


@contextmanager
def small_disk(*folders: Path, options: str) -> Iterator[None]:
    """Mount a small file system over folders, with what they hold; it is filled, and then grows."""
    with ExitStack() as stack:
        for folder in folders:
            kept = (
                {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} if folder.exists() else {}
            )
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
            stack.callback(subprocess.run, ["umount", "-l", str(folder)], check=False)
            for name, content in kept.items():
                (folder / name).write_bytes(content)
        yield


@contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    """Let nobody write to folders, also not root."""
    with ExitStack() as stack:
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
            stack.callback(subprocess.run, ["umount", "-l", str(folder)], check=False)
            subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield


#: (First exit, further runs until the end): what a trial does after it was disturbed.
Disturb = Callable[[Trial], object]


class Plan(NamedTuple):
    """A trial: how it is disturbed, the options of the run again, and what else is special."""

    name: str
    disturb: Disturb
    again: Sequence[str] = ("--personalens-record", "new")
    variables: Mapping[str, str] = MappingProxyType({})
    at_once: bool = False
    root: bool = False
    cwd: str = ""
    anew: int = 0


def plans() -> list[Plan]:
    """All trials."""
    new, live, everything = (("--personalens-record", mode) for mode in ("new", "live", "all"))
    found: list[Plan] = []

    def add(name: str, disturb: Disturb, again: Sequence[str] = new, **more: Any) -> None:
        found.append(Plan(name, disturb, again, **more))

    def ran(*options: str, **more: Any) -> Disturb:
        return lambda t: t.run(*options, **more)

    def kill(name: str, number: int, how: str, at: int, mode: Sequence[str], **more: Any) -> None:
        label = f"{name} {how} at {at} {mode[1]}"
        add(
            label,
            lambda t: t.killed(signal.Signals(number), at, *mode, *HOW[how], **more),
            (*mode, *HOW[how]),
        )

    for name, number, times in (("KILL", 9, 1), ("TERM", 15, 1), ("INT", 2, 1), ("INT2", 2, 2)):
        for how, at in (("serial", 7), ("conc8", 30), ("n2", 25), ("n2c4", 50)):
            kill(name, number, how, at, new, times=times, whom="group" if number == 2 else "process")
    kill("KILL", 9, "serial", 58, live)
    kill("KILLPG", 9, "n2c4", 40, live, whom="group")
    kill("KILLPG", 9, "n2c4", 20, new, whom="group")
    kill("TERM", 15, "conc8", 55, live)
    kill("INT", 2, "n2", 45, live, whom="group")
    kill("INT2pid", 2, "conc8", 33, new, times=2)
    kill("INT2pid", 2, "n2", 33, new, times=2)
    kill("HUP", 1, "serial", 33, new)
    kill("HUP", 1, "n2c4", 33, new)
    kill("QUIT", 3, "conc8", 33, new)
    for how, at, mode in (
        ("n2", 20, new),
        ("n2", 50, new),
        ("n2c4", 20, new),
        ("n2c4", 50, new),
        ("n2c4", 40, live),
    ):
        kill("WORKER", 9, how, at, mode, whom="worker")
    for options in (
        *(("-n", "2", "--dist", d) for d in ("worksteal", "loadgroup", "loadfile", "loadscope", "each")),
        *(("-n", str(number)) for number in (0, 1, 8)),
        *(("-o", f"personalens_parallel={number}") for number in (1, 30, 200)),
        ("-n", "8", "-o", "personalens_parallel=30"), ("--tx", "2*popen", "--dist", "each"),
        ("-p", "no:xdist"), ("-p", "no:cacheprovider"),
    ):  # fmt: skip
        add(f"plain {' '.join(options)}", ran(*new, *options), (*new, *options))

    def after_kill(
        name: str, again: Sequence[str], how: str = "serial", first: Sequence[str] = new, **more: Any
    ) -> None:
        add(
            name,
            lambda t: t.killed(signal.SIGKILL, 40, *first, *HOW.get(how, ()), whom="group"),
            again,
            **more,
        )

    after_kill("killed n2, rerun serial", new, "n2")
    after_kill("killed serial, rerun n8c30", (*new, "-n", "8", "-o", "personalens_parallel=30"))
    after_kill("killed new, rerun with path", (*new, "test_bot.py"))
    after_kill("killed, rerun --lf", (*new, "--lf"))
    after_kill("killed, rerun --ff -x", (*new, "--ff", "-x"))
    after_kill("killed, rerun --cache-clear", (*new, "--cache-clear"))
    after_kill("killed, rerun --resume", (*new, "--personalens-resume"))
    after_kill("killed dist each, rerun load", (*new, "-n", "2"), "", (*new, "-n", "2", "--dist", "each"))
    after_kill("live killed then new", new, first=live)
    add("live done then new", lambda t: t.run(*live))
    after_kill(
        "killed, rerun from parent with --rootdir", (*new, "--rootdir", "project", "project"), cwd=".."
    )
    after_kill("killed in root, rerun in subfolder", (*new, ".."), cwd="sub")
    broken = {"BROKEN": "1"}
    fails = ("-o", "personalens_gate=", "-o", "personalens_threshold=p>=1")
    for name, options, again in (
        ("rerunfailures --reruns 2, bot raises", ("--reruns", "2"), ()),
        ("rerunfailures -n 2, bot raises", ("--reruns", "2", "-n", "2"), ()),
        ("-x, bot raises", ("-x",), ()), ("--maxfail 2 -n 2, bot raises", ("--maxfail", "2", "-n", "2"), ()),
        ("-x conc8, bot raises", ("-x", *HOW["conc8"]), ()),
        ("-x n2c4, bot raises", ("-x", *HOW["n2c4"]), ()),
        ("--sw, bot raises, then --sw", ("--sw",), ("--sw",)), ("--lf after raising", (), ("--lf",)),
    ):  # fmt: skip
        add(name, ran(*new, *fails, *options, **broken), (*new, *again))
    add("randomly", lambda t: t.run(*new, "-p", "randomly"))
    slow = {"SLOW": "1.5"}
    for name, options in (
        ("timeout 1 signal, slow bot", ("--timeout", "1", "--timeout-method", "signal")),
        ("timeout 1 thread, slow bot", ("--timeout", "1", "--timeout-method", "thread")),
        ("timeout 1 signal conc8, slow bot", ("--timeout", "1", "--timeout-method", "signal", *HOW["conc8"])),
        ("timeout 1 n2, slow bot", ("--timeout", "1", "-n", "2")),
        ("session-timeout 2", ("--session-timeout", "2")),
    ):  # fmt: skip
        add(name, ran(*new, *options, **slow))
    add("budget 40 then on", lambda t: t.run(*new, "--personalens-budget", "40calls"))
    add("budget 40 n2c4 then on", lambda t: t.run(*new, "--personalens-budget", "40calls", *HOW["n2c4"]))
    for limit, how in ((2000, "serial"), (6000, "conc8"), (4096, "n2")):
        add(f"RLIMIT_FSIZE {limit} {how}", ran(*new, *HOW[how], limit=limit))
    for size, how, mode in (
        ("60k", "serial", new),
        ("100k", "conc8", new),
        ("80k", "n2", new),
        ("60k", "serial", live),
    ):

        def filled(t: Trial, size: str = size, how: str = how, mode: Sequence[str] = mode) -> int:
            with small_disk(t.cache / "calls", t.project, options=f"size={size}"):
                code = t.run(*mode, *HOW[how])
                saved = [(f, p) for f in (t.cache / "calls", t.project) for p in f.rglob("*") if p.is_file()]
                kept = [(f, p.relative_to(f), p.read_bytes()) for f, p in saved]
            for folder, name, content in kept:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
            return code

        add(f"disk full {size} {how} {mode[1]}", filled, (*mode, *HOW[how]), root=True)

    def mounted(mount: Callable[[Trial], Any], *options: str) -> Disturb:
        def disturb(t: Trial) -> int:
            with mount(t):
                return t.run(*options)

        return disturb

    full = "size=20k"
    add(
        "disk full 20k",
        mounted(lambda t: small_disk(t.cache / "calls", t.project, options=full), *new),
        root=True,
    )
    inodes = "nr_inodes=8"
    add("no inodes 8", mounted(lambda t: small_disk(t.project, options=inodes), *new), root=True)
    nowhere = mounted(lambda t: read_only(t.project, t.cache), *new)
    add("read-only project and cache", nowhere, root=True)
    add("read-only project", mounted(lambda t: read_only(t.project), *new), root=True)
    add(
        "read-only __personalens__",
        mounted(lambda t: read_only(t.project / "__personalens__"), *new),
        root=True,
    )
    add("read-only cache", mounted(lambda t: read_only(t.cache), *new), root=True)
    add("read-only cache live", mounted(lambda t: read_only(t.cache), *live), live, root=True)
    add(
        "read-only __personalens__ n2c4",
        mounted(lambda t: read_only(t.project / "__personalens__"), *new, *HOW["n2c4"]), root=True,
    )  # fmt: skip

    def both(*options: Sequence[str]) -> Disturb:
        return lambda t: [t.end(p) for p in [t.start(*o) for o in options]]

    add("two runs at once new/new", both(new, new), at_once=True)
    add("two runs at once new/live", both(new, live), at_once=True)
    add("two runs at once n2c4 x2", both((*new, *HOW["n2c4"]), (*new, *HOW["n2c4"])), at_once=True)
    add("two runs new/all", both(new, everything), at_once=True, anew=CALLS)

    def cut(which: str, how: str, mode: Sequence[str] = new) -> Disturb:
        def disturb(t: Trial) -> int:
            code = t.killed(signal.SIGKILL, 50, *mode, whom="group")
            pattern = "project/__personalens__/*/*.json" if which == "record" else "cache/calls/*/*.jsonl"
            files = sorted(t.folder.glob(pattern), key=lambda p: p.stat().st_mtime)
            for file in files[-1:]:
                text = file.read_bytes()
                last = text[:-1].rfind(b"\n") + 1
                if which == "journal":  # what was on disk stays; the line that was being written is lost
                    tail = {"half": text[last:-20], "nul": b"\0" * 40, "empty": b""}[how]
                    file.write_bytes(text + tail)
                else:
                    file.write_bytes(
                        {
                            "half": text[: len(text) // 2],
                            "empty": b"",
                            "nul": b"\0" * len(text),
                            "tail": text + text[-50:],
                        }[how]
                    )
            return code

        return disturb

    for how in ("half", "empty", "nul", "tail"):
        add(f"power cut record {how}", cut("record", how))
    for how, mode in (("half", new), ("nul", new), ("empty", live)):
        add(f"power cut journal {how} {mode[1]}", cut("journal", how, mode), mode)
    after_kill("clock runs backwards", new, variables={"CLOCK": "-1"})
    add("clock at 1970, then real", lambda t: t.killed(signal.SIGKILL, 40, *new, whom="group", CLOCK="1"))

    def future(t: Trial) -> int:
        code = t.killed(signal.SIGKILL, 40, *new, whom="group")
        for file in (*t.cache.rglob("*"), *t.project.rglob("*")):
            os.utime(file, (4e9, 4e9))
        return code

    add("files of the future", future)

    def renamed(then: Sequence[str]) -> Disturb:
        def disturb(t: Trial) -> int:
            code = t.run(*then) if then[1] == "live" else t.killed(signal.SIGKILL, 40, *then, whom="group")
            (t.project / "test_bot.py").rename(t.project / "test_other.py")
            return code

        return disturb

    add("test renamed after the kill", renamed(new))
    add("file renamed after a live run", renamed(live), live)
    resumed = (*everything, "--personalens-resume")
    after_kill("all killed, all --resume", resumed, first=everything)
    after_kill("all killed, new", new, first=everything)
    return found


def tried(plan: Plan, undisturbed: dict[str, bytes]) -> Row:
    """Run a trial to its row."""
    with tempfile.TemporaryDirectory(prefix="interruptions-") as folder:
        trial = Trial(Path(folder))
        first = plan.disturb(trial)
        calls = len(trial.events("begun"))
        cwd = trial.project / plan.cwd
        cwd.mkdir(exist_ok=True)
        rerun = trial.run(*plan.again, cwd=cwd, **plan.variables)
        after, (again, flight) = len(trial.events("begun")), trial.repeated(plan.at_once)
        flight = min(again, flight + plan.anew)
        has_records = "new" in plan.again or "all" in plan.again
        mode = "none" if has_records else "live"
        replay = trial.run("--personalens-record", mode)
        asked = len(trial.events("begun")) - after
        records = trial.records()
        same = sum(undisturbed.get(name) == content for name, content in records.items())
        equal = str(same) if has_records else "-"
        return Row(
            plan.name, first, calls, after, again, flight, rerun, f"{replay}, {asked}", len(records), equal
        )


def main() -> int:
    """Make the trials, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="trials whose name holds this text")
    parser.add_argument("--jobs", type=int, default=1, help="trials at a time")
    parser.add_argument("--write", type=Path, help="write the table here too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder))
        code = trial.run("--personalens-record", "new")
        undisturbed = trial.records()
        if code or len(undisturbed) != DIALOGUES or len(trial.events("begun")) != CALLS:
            raise SystemExit(f"the undisturbed run: exit {code}, {len(trial.events('begun'))} calls")
    wanted = [p for p in plans() if options.only in p.name and not (p.root and os.getuid())]
    head = (
        "| trial | first exit | calls | after rerun (60 undisturbed) | repeated | of them in flight |"
        " rerun exit | replay: exit, calls | records | equal to undisturbed |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |"
    )
    lines = [head]
    print(head, flush=True)
    lost = differs = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda plan: tried(plan, undisturbed), wanted):
            lines.append("| " + " | ".join(map(str, row)) + " |")
            print(lines[-1], flush=True)
            lost += row.lost > 0
            differs += row.equal not in ("-", str(row.records)) or row.rerun != 0
    lines.append(
        f"\n{len(wanted)} trials; in {lost} a call was paid twice that was not in flight; {differs} differ"
    )
    print(lines[-1])
    if options.write:
        options.write.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if lost or differs else 0


if __name__ == "__main__":
    sys.exit(main())
