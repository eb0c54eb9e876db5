"""The sources of scenarios: the embedded benchmark, the official data, or your own dataset."""

from __future__ import annotations

from pytest_personalens.datasets.checked_dataset import CheckedDataset, open_dataset
from pytest_personalens.datasets.dataset import Dataset, OtherUsers, Sample, draw
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
from pytest_personalens.datasets.official import OFFICIAL_SAMPLES, OfficialDataset

__all__ = [
    "OFFICIAL_SAMPLES",
    "CheckedDataset",
    "Dataset",
    "EmbeddedDataset",
    "OfficialDataset",
    "OtherUsers",
    "Sample",
    "draw",
    "open_dataset",
]
