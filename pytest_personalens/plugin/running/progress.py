"""One live line on a terminal while many dialogues run: progress, usage, and the limits of the provider."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from pytest_personalens.plugin.pytest_internals import terminal_writer, without_capture, write_beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_personalens.models.meter import Total
    from pytest_personalens.models.rate_limit import Limiter

#: Make room for a line below without moving sideways (the screen scrolls at its end), and go back.
_MAKE_ROOM: Final = "\x1bD\x1bM"
_SAVE, _RESTORE, _DOWN, _ERASE = "\x1b7", "\x1b8", "\x1b[1B\r", "\x1b[K"


class LiveLine:
    """A line below pytest's own, drawn while an item waits, and removed before pytest writes again.

    It is drawn only on terminals that can move their cursor, and not with ``-q``, with ``-s`` or in a worker.
    """

    def __init__(self, config: pytest.Config, *, total: int, what: str) -> None:
        reporter = config.pluginmanager.getplugin("terminalreporter")
        shown = (
            reporter is not None and reporter.isatty and reporter.hasmarkup and config.get_verbosity() >= 0
        )
        self._writer = terminal_writer(reporter) if shown and config.option.capture != "no" else None
        self._config, self._what, self._total = config, what, total
        self._started, self._drawn = time.monotonic(), False

    def draw(self, done: int, used: Total, limiters: Sequence[Limiter]) -> None:
        """Show how many dialogues are done, and their usage so far."""
        if self._writer is None:
            return
        text = _text(done, self._total, self._what, time.monotonic() - self._started, used, limiters)
        self._write(text)
        self._drawn = True

    def clear(self) -> None:
        """Remove the line."""
        if self._drawn:
            self._write("")
            self._drawn = False

    def _write(self, text: str) -> None:
        assert self._writer is not None
        # While an item runs, pytest would capture this text as its output, and the terminal's width would be
        # unknown.
        with without_capture(self._config):
            room = _MAKE_ROOM if text else ""
            write_beside(
                self._writer, f"{room}{_SAVE}{_DOWN}{text[: self._writer.fullwidth - 1]}{_ERASE}{_RESTORE}"
            )


def _text(done: int, total: int, what: str, seconds: float, used: Total, limiters: Sequence[Limiter]) -> str:
    # On a narrow terminal, the last parts are cut.
    parts = [f"{done} of {total} {what}s"]
    if done:
        left = round(seconds / done * (total - done))
        parts.append(f"{left // 60}:{left % 60:02} left")
    u = used.usage
    if u.calls:
        parts += [f"{u.calls:,} calls", f"{u.tokens:,} tokens"] + ([f"${used.usd:.2f}"] if used.usd else [])
    for limiter in limiters:
        held = f", throttled {limiter.throttled} times" if limiter.throttled else ""
        parts.append(f"up to {limiter.limit} calls at once{held}")
    return "personalens: " + ", ".join(parts)
