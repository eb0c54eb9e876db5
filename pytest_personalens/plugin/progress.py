"""One live line on a terminal while many dialogues run: how far they are, what they use, what the provider
bears.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from pytest_personalens.plugin.pytest_internals import terminal_writer, without_capture, write_beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from pytest_personalens.models.meter import Total
    from pytest_personalens.models.rate_limit import Limiter

#: A line below without moving sideways (scrolling where the screen ends) and back; keep the place; down; and
#: back to it.
_MAKE_ROOM: Final = "\x1bD\x1bM"
_SAVE, _RESTORE, _DOWN, _ERASE = "\x1b7", "\x1b8", "\x1b[1B\r", "\x1b[K"


class LiveLine:
    """A line below pytest's own, drawn while an item waits and gone before pytest writes again.

    Drawn on terminals that move their cursor, and not under ``-q``, ``-s`` or in a worker.
    """

    def __init__(self, config: pytest.Config, *, total: int) -> None:
        reporter = config.pluginmanager.getplugin("terminalreporter")
        shown = (
            reporter is not None and reporter.isatty and reporter.hasmarkup and config.get_verbosity() >= 0
        )
        self._writer = terminal_writer(reporter) if shown and config.option.capture != "no" else None
        self._config = config
        self._total, self._started, self._drawn = total, time.monotonic(), False

    def draw(self, done: int, used: Total, limiters: Sequence[Limiter]) -> None:
        """Show how many dialogues are done, and what they used so far."""
        if self._writer is None:
            return
        text = _text(done, self._total, time.monotonic() - self._started, used, limiters)
        self._write(text)
        self._drawn = True

    def clear(self) -> None:
        """Take the line away."""
        if self._drawn:
            self._write("")
            self._drawn = False

    def _write(self, text: str) -> None:
        assert self._writer is not None
        # While an item runs, what is written to the terminal would be captured as its output, and the
        # terminal's width is not known.
        with without_capture(self._config):
            room = _MAKE_ROOM if text else ""
            write_beside(
                self._writer, f"{room}{_SAVE}{_DOWN}{text[: self._writer.fullwidth - 1]}{_ERASE}{_RESTORE}"
            )


def _text(done: int, total: int, seconds: float, used: Total, limiters: Sequence[Limiter]) -> str:
    # What is last is cut where the terminal is narrow.
    parts = [f"{done} of {total} dialogues"]
    if done:
        left = round(seconds / done * (total - done))
        parts.append(f"{left // 60}:{left % 60:02} left")
    u = used.usage
    if u.calls:
        tokens = u.input_tokens + u.cached_tokens + u.written_tokens + u.output_tokens
        parts += [f"{u.calls:,} calls", f"{tokens:,} tokens"] + ([f"${used.usd:.2f}"] if used.usd else [])
    for limiter in limiters:
        held = f", throttled {limiter.throttled} times" if limiter.throttled else ""
        parts.append(f"up to {limiter.limit} calls at once{held}")
    return "personalens: " + ", ".join(parts)
