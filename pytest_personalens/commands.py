"""How the commands of this package (``python -m pytest_personalens...``) end."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable


def run(main: Callable[[], int]) -> NoReturn:
    """Exit with what `main` returns, or with 1 when the reader of its output has gone."""
    try:
        sys.exit(main())
    except BrokenPipeError:
        # Somebody read as much as they wanted ("... | head"); Python would complain once more when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
