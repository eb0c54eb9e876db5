"""Measures the quality of posts: what they hold, how far guesses go, and what is irregular.

The command is ``python -m pytest_personalens check-dataset``.
"""

from pytest_personalens.suites.personaconv.quality.check import check_data

__all__ = ["check_data"]
