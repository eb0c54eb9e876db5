"""How good a judge is: its agreement with labels, its drift since it was adopted, its training."""

from pytest_personalens.judge_quality.labels import Labelled, read_labels
from pytest_personalens.judge_quality.measure import Agreement, measure, wanted

__all__ = ["Agreement", "Labelled", "measure", "read_labels", "wanted"]
