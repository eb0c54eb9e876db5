"""Measures a judge by its agreement with labels and its drift."""

from pytest_personalens.judge_quality.agreement import Agreement, measure
from pytest_personalens.judge_quality.labels import Labelled, read_labels

__all__ = ["Agreement", "Labelled", "measure", "read_labels"]
