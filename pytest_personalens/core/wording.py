"""Words that all layers put together alike: plurals, ages, capitals, and texts that are cut."""

from __future__ import annotations


def count(number: int, what: str = "scenario") -> str:
    """Return ``1 scenario``, or ``2 scenarios``."""
    return f"{number} {what}{'s' if number != 1 else ''}"


def age_text(seconds: float) -> str:
    """Return an age in its largest unit of which there are two: ``1 minute``, ``90 minutes``, ``3 days``."""
    minutes = max(0, round(seconds / 60))
    for size, unit in ((60 * 24, "day"), (60, "hour")):
        if minutes >= 2 * size:
            return count(minutes // size, unit)
    return count(minutes, "minute")


def upper_first(text: str) -> str:
    """Return the text with a capital at its start."""
    return text[:1].upper() + text[1:]


def cut_to(text: str, longest: int) -> str:
    """Return the text, and of a long one its beginning and how many characters more there are."""
    more = len(text) - longest
    return f"{text[:longest]} [... {more:,} more characters]" if more > 0 else text


def cut_line(line: str, longest: int) -> str:
    """Return the line, and of a long one its beginning with an ellipsis."""
    return line if len(line) <= longest else f"{line[:longest]}..."
