"""Hands over a bot whose memory stores late, and the functions that wait for it and look into it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import pytest

from late.notekeeper import NoteKeeper
from pytest_personalens import Context, MemoryStore


@pytest.fixture(scope="session")
def notekeeper() -> NoteKeeper:
    """LATE is the number of seconds until a message is stored, and FAULT one of notekeeper.FAULTS."""
    return NoteKeeper(float(os.environ.get("LATE", "3")), os.environ.get("FAULT", ""))


@pytest.fixture(scope="session")
def personalens_assistant(notekeeper: NoteKeeper) -> Callable[..., str]:
    def assistant(messages: Sequence[Mapping[str, str]], context: Context) -> str:
        return notekeeper.reply(context.user, messages[-1]["content"])

    return assistant


@pytest.fixture(scope="session")
def personalens_memory_store(notekeeper: NoteKeeper) -> MemoryStore:
    return MemoryStore(
        settled=lambda context: notekeeper.is_idle(context.user),
        read=lambda context, question: notekeeper.search(context.user, question),
        all=lambda context: notekeeper.entries(context.user),
    )
