"""The embedded user agent: a user by rules, with its voice and its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.dialogue import Message, UserTurn
    from pytest_personalens.core.scenario import Scenario


class EmbeddedUserAgent:
    """A user agent that plays a profile by rules; `UserTurn.served` says if it got what it came for.

    Each turn depends only on the scenario and the transcript. Their digest draws the wording.
    """

    identity = "embedded-user 8"
    paid = False

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """Return the next turn of the user."""
        # A replay needs no turn, and these imports would slow it down.
        from pytest_personalens.agents.embedded.user.agent import NextTurn
        from pytest_personalens.agents.embedded.user.openings import opening
        from pytest_personalens.core.dialogue.dialogue import UserTurn

        return NextTurn(scenario, transcript).turn() if transcript else UserTurn(opening(scenario))
