"""Shared by the tests of pages: none writes anything to the console of the browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _silent(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    assert "page" not in request.fixturenames or request.getfixturevalue("page").console() == []
