"""Measures a judge by its agreement with labels and its drift."""

from pytest_personalens.judge_quality.agreement.labels import Labelled, read_labels
from pytest_personalens.judge_quality.agreement.measure import Agreement, labelled_readings, measure

__all__ = ["Agreement", "Labelled", "labelled_readings", "measure", "read_labels"]
