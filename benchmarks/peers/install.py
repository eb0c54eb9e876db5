"""Makes an environment for each peer, outside the repository, and installs the peer there with pip.

    python benchmarks/peers/install.py [NAME ...]

The folder is ``$PERSONALENS_BENCHMARK_ENVS``, else ``~/.cache/pytest-personalens/benchmarks``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

#: The versions that the scripts beside this one were written for; each with the client of the OpenAI protocol
#: that its documentation names.
PEERS = {
    "openevals": ("openevals==0.2.2", "langchain-openai"),
    "inspect": ("inspect-ai==0.3.285", "openai"),
    "deepeval": ("deepeval==4.3.1",),
}


def environments() -> Path:
    """The folder that holds the environments."""
    return Path(
        os.environ.get("PERSONALENS_BENCHMARK_ENVS")
        or Path.home() / ".cache" / "pytest-personalens" / "benchmarks"
    )


def python_of(peer: str) -> Path:
    """The interpreter of a peer's environment, whether it is there or not."""
    folder = environments() / peer
    return folder / "Scripts" / "python.exe" if os.name == "nt" else folder / "bin" / "python"


def missing(peer: str) -> str:
    """Why a peer cannot be run; empty if it can."""
    if not python_of(peer).exists():
        return "not installed (benchmarks/peers/install.py)"
    reason = environments() / peer / "failed"
    return f"cannot be installed: {reason.read_text(encoding='utf-8')}" if reason.exists() else ""


def install(peer: str) -> bool:
    """True if the peer is in its environment now; else the reason is kept there."""
    folder = environments() / peer
    if not python_of(peer).exists():
        venv.create(folder, with_pip=True)
    command = [
        str(python_of(peer)),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        *PEERS[peer],
    ]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    reason = folder / "failed"
    reason.unlink(missing_ok=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["pip gave no reason"]
        reason.write_text(lines[-1], encoding="utf-8")
    print(f"{peer}: {'installed in' if not done.returncode else 'NOT installed in'} {folder}")
    return not done.returncode


def main() -> int:
    """Install what was asked for, else all; 1 if one could not be."""
    unknown = [name for name in sys.argv[1:] if name not in PEERS]
    if unknown:
        print(f"no peer {unknown[0]!r}; there are {', '.join(PEERS)}", file=sys.stderr)
        return 2
    done = [install(peer) for peer in sys.argv[1:] or PEERS]
    return int(not all(done))


if __name__ == "__main__":
    sys.exit(main())
