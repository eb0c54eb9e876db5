"""The commands: ``personalens COMMAND``, or ``python -m pytest_personalens COMMAND``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.cli import command

if TYPE_CHECKING:
    from pytest_personalens.datasets import Dataset


def main() -> None:
    """Run the command and exit with its code."""
    command.run(lambda: command.main(offered=_offered))


def _offered(spec: str) -> Dataset | None:
    from pytest_personalens.plugin.running.opening import (
        offered_dataset,  # loads pytest, which few commands need
    )

    return offered_dataset(spec)


if __name__ == "__main__":
    main()
