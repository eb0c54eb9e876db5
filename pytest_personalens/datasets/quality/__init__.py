"""Finds what is wrong with a dataset, and measures it, for the command ``check-dataset``."""

from pytest_personalens.core.suite import Finding
from pytest_personalens.datasets.quality.corpus import Corpus, read_corpus
from pytest_personalens.datasets.quality.measures import Quality, assess

__all__ = ["Corpus", "Finding", "Quality", "assess", "read_corpus"]
