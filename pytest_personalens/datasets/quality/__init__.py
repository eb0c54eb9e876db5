"""Measures the diversity, balance and consistency of a dataset, for the command ``check-dataset``."""

from pytest_personalens.core.suite.data_check import Finding
from pytest_personalens.datasets.quality.assess import Quality, assess
from pytest_personalens.datasets.quality.corpus import Corpus
from pytest_personalens.datasets.quality.read import read_corpus

__all__ = ["Corpus", "Finding", "Quality", "assess", "read_corpus"]
