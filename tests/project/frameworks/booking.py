"""The tool of every bot."""


def book_table(people: int, day: str) -> str:
    """Book a table."""
    return f"reference QX77 for {people} on {day}"
