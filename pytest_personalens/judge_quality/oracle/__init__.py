"""Assistants whose replies are right or wrong by the facts of a scenario: an oracle, and its mutants.

They need no labels: the oracle sees facts, history and limits and does the task, in six wordings. Each
mutant has one known fault. A user and a judge that check the work complete the oracle's dialogues and no
mutant's.
"""

from pytest_personalens.judge_quality.oracle.faults import FAULTS, Fault, replies
from pytest_personalens.judge_quality.oracle.table import Tally, play, table
from pytest_personalens.judge_quality.oracle.wordings import TaskWordings, read_wordings

__all__ = ["FAULTS", "Fault", "Tally", "TaskWordings", "play", "read_wordings", "replies", "table"]
