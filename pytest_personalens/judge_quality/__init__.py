"""Measures a judge by its agreement with labels and its drift."""

from pytest_personalens.judge_quality.agreement.kappa import Agreement, labelled_readings, measure
from pytest_personalens.judge_quality.agreement.labels import Labelled, read_labels

__all__ = ["Agreement", "Labelled", "labelled_readings", "measure", "read_labels"]
