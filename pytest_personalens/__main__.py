"""The commands: ``python -m pytest_personalens COMMAND``, or ``personalens COMMAND``."""

from pytest_personalens.cli import command


def main() -> None:
    """Run the command and exit with its code."""
    command.run(command.main)


if __name__ == "__main__":
    main()
