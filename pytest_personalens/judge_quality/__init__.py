"""Measures the quality of a judge, and trains the embedded judge.

The quality of a judge is its agreement with labels and its drift since it was adopted.
"""

from pytest_personalens.judge_quality.agreement.labels import Labelled, read_labels
from pytest_personalens.judge_quality.agreement.measure import Agreement, labelled_readings, measure

__all__ = ["Agreement", "Labelled", "labelled_readings", "measure", "read_labels"]
