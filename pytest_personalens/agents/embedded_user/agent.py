"""The embedded user agent: plays the user by rule, without a model, the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.dialogue import UserTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue import Message
    from pytest_personalens.core.scenario import Scenario


class EmbeddedUserAgent:
    """Opens without a preference, answers what is asked, corrects what is wrong, ends when served or out of
    patience.

    Each turn follows from the scenario and the transcript alone; wording is chosen by their digest and no
    sentence is used twice in a dialogue.
    """

    identity = "embedded-user 3"
    paid = False

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """The next turn of the user."""
        # A replay asks no turn, and would feel what these load.
        if not transcript:
            from pytest_personalens.agents.embedded_user.openings import opening

            return UserTurn(opening(scenario))
        from pytest_personalens.agents.embedded_user.agenda import Agenda

        return Agenda(scenario, transcript).next()
