"""Helpbot: a small assistant that looks up, books and sets things, with a memory of its users."""

from helpbot.assistant import Helpbot
from helpbot.memory import Memory

__all__ = ["Helpbot", "Memory"]
