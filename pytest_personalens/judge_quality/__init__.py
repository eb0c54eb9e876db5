"""How well a judge agrees with labels: run as ``python -m pytest_personalens agreement LABELS.jsonl``."""

from pytest_personalens.judge_quality.labels import Labelled, read_labels
from pytest_personalens.judge_quality.measure import Agreement, measure

__all__ = ["Agreement", "Labelled", "measure", "read_labels"]
