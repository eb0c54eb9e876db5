"""Tests of the suite of questions over a history."""
