"""The answer that a scorer read: apart from measures, which a plain run of pytest imports too."""

from __future__ import annotations

from pytest_personalens.core.frozen import Frozen, Text


class Answer(Frozen):
    """The answer that a scorer read in a reply, with the true answer.

    If the reply holds no answer, `read` is false, and `value` is null or what the answer counts as. Texts are
    labels or digests, never data. `leaks` names what the request gives away of the truth.
    """

    read: bool
    value: float | Text | None = None
    truth: float | Text | None = None
    leaks: tuple[str, ...] = ()
