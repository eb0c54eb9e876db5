"""Runs pytest, its workers and the package's commands in forks of one process that has everything imported.

A new process takes about a second of CPU to import pytest, pydantic and the plugin, and a run with two workers is three
processes: most of the suite's time. A fork has its own memory, exit code, signals and file descriptors like any process.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import IO, Any, Final, Literal, NamedTuple, NoReturn

from tests.support.processes.preloaded import import_package, play_one_dialogue

#: Where the server listens, in a process that it forked; none elsewhere.
_address = ""
#: Python reads these only when it starts.
_AT_START: Final = ("LANG", "LC_ALL", "LC_CTYPE")


class Request(NamedTuple):
    """What a fork is to do: run a module with `arguments`, or be a worker of pytest-xdist."""

    module: Literal["pytest", "pytest_personalens", "worker"]
    arguments: list[str]
    folder: str
    environment: dict[str, str]


class Forked:
    """A process that the server forked: the part of `subprocess.Popen` that pytest and execnet use."""

    def __init__(self, address: str, request: Request, files: tuple[int, int, int]) -> None:
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.connect(address)
        socket.send_fds(self._connection, [json.dumps(request).encode()], list(files))
        self.pid = int(self._connection.recv(64))
        self.stdin: IO[bytes] | None = None
        self.stdout: IO[bytes] | None = None
        self._code: int | None = None

    def wait(self, seconds: float | None = None) -> int:
        """The exit code, or minus the number of the signal that ended it; raise `TimeoutError` if it takes longer."""
        if self._code is None:
            self._connection.settimeout(seconds)
            self._code = int(self._connection.recv(64))
            self._connection.close()
        return self._code

    def kill(self) -> None:
        """End it at once."""
        if self._code is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class ForkServer:
    """The server's process, as the tests hold it. It ends when they close its standard input, or end."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fork-")
        self._address = str(Path(self._folder.name) / "socket")
        self._environment = dict(os.environ)
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, self._address],
            cwd=Path(__file__).parents[3],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def can(self, environment: dict[str, str]) -> bool:
        """False where Python itself would start otherwise than the server did."""
        return all(
            environment.get(name) == self._environment.get(name)
            for name in {*environment, *self._environment}
            if (name.startswith("PYTHON") and name != "PYTHONPATH") or name in _AT_START
        )

    def run(
        self,
        module: Literal["pytest", "pytest_personalens"],
        arguments: list[str],
        folder: Path,
        stdout: IO[Any],
        stderr: IO[Any],
        environment: dict[str, str] | None = None,
    ) -> Forked:
        """``python -m MODULE ARGUMENTS`` in the folder, with this process's environment or another."""
        around = dict(os.environ) if environment is None else environment
        with Path(os.devnull).open("rb") as nothing:
            files = (nothing.fileno(), stdout.fileno(), stderr.fileno())
            return Forked(self._address, Request(module, arguments, str(folder), around), files)

    def close(self) -> None:
        """End the server."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process.wait()
        self._folder.cleanup()


def _import_all() -> None:
    import execnet.gateway_io
    import pydantic  # noqa: F401
    import pytest
    import syrupy  # noqa: F401
    import xdist.dsession
    import xdist.plugin
    import xdist.remote

    import_package()
    play_one_dialogue()
    # pytest warns of plugins whose asserts it cannot rewrite any more.
    for name in ("pytest_personalens", "syrupy", "xdist"):
        sys.modules[name].__doc__ = f"{sys.modules[name].__doc__} PYTEST_DONT_REWRITE"
    assert pytest and xdist.plugin and xdist.dsession and execnet.gateway_io
    _run_without_tests()


def _run_without_tests() -> None:
    """Let pytest find and import its plugins, and read what is installed: a quarter of a short run."""
    import pytest

    gc.freeze()  # pytest looks for garbage five times at its end
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        assert pytest.main([folder, "--rootdir", folder, "-c", os.devnull]) == 5


def _serve(address: str) -> Request:
    """Fork for each request. Returns in the fork alone, which then is what was asked for."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen(64)
        os.write(1, b"ready\n")
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            readable, _, _ = select.select([listener.fileno(), 0], [], [])
            if listener.fileno() not in readable:
                os._exit(0)
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                return _supervise(connection)
            connection.close()


def _supervise(connection: socket.socket) -> Request:
    """Fork once more, tell who asked the pid and in the end the exit code. Returns in the second fork alone."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    content, files, _, _ = socket.recv_fds(connection, 1_000_000, 3)
    child = os.fork()
    if child == 0:
        connection.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        return Request(*json.loads(content))
    for file in (0, 1, 2, *files):
        os.close(file)
    connection.send(str(child).encode())
    _, status = os.waitpid(child, 0)
    with suppress(OSError):
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(request: Request) -> None:
    """What Python does when it starts."""
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    paths = filter(None, request.environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:1] = [request.folder, *paths]
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    streams = (
        os.fdopen(0, closefd=False),
        os.fdopen(1, "w", closefd=False),
        os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False),
    )
    for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    tempfile.tempdir = None
    random.seed()
    time.tzset()


def _fork_workers_too() -> None:
    """execnet starts its workers as forks of the server: they need what it has imported as well."""
    from execnet.gateway_base import Popen2IO
    from execnet.gateway_io import Popen2IOMaster

    def start(self: Any, args: list[str], execmodel: Any) -> None:
        stdin, to_worker = os.pipe()
        from_worker, stdout = os.pipe()
        self.popen = Forked(
            _address, Request("worker", [], str(Path.cwd()), dict(os.environ)), (stdin, stdout, 2)
        )
        os.close(stdin)
        os.close(stdout)
        self.popen.stdin, self.popen.stdout = os.fdopen(to_worker, "wb", 0), os.fdopen(from_worker, "rb", 0)
        Popen2IO.__init__(self, self.popen.stdin, self.popen.stdout, execmodel=execmodel)

    master: Any = Popen2IOMaster
    master.__init__ = start


def _run(request: Request) -> int:
    if request.module == "worker":
        # As `python -c` of execnet does it: its first line says what to execute.
        exec(eval(sys.stdin.readline()), {"__name__": "__main__"})
        return 0
    if request.module == "pytest_personalens":
        import pytest_personalens
        from pytest_personalens.__main__ import main

        sys.argv = [str(Path(pytest_personalens.__file__).with_name("__main__.py")), *request.arguments]
        main()
        return 0
    _fork_workers_too()
    import pytest

    sys.argv = [str(Path(pytest.__file__).with_name("__main__.py")), *request.arguments]
    return int(pytest.main())


def _exit(code: str | int | None) -> NoReturn:
    """End as Python does, but without taking all modules apart, which would be most of a short run's time."""
    if not isinstance(code, int):
        sys.exit(code)
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    _address = sys.argv[1]
    _import_all()
    # What is frozen is not searched for garbage in the forks, so it stays in memory that they share.
    gc.collect()
    gc.freeze()
    job = _serve(_address)
    _become(job)
    try:
        result: str | int | None = _run(job)
    except SystemExit as asked:
        result = asked.code or 0
    _exit(result)
