"""The embedded user agent.

It plays the user by rules, without a model, and in the same way on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.dialogue.dialogue import UserTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario


class EmbeddedUserAgent:
    """A user agent that plays a profile by rules.

    Its opening names no preference. It answers questions, corrects mistakes, and ends the dialogue when the
    task is served or its patience is over. Each turn depends only on the scenario and the transcript. Their
    digest chooses the wording, and no sentence occurs twice in a dialogue.
    """

    identity = "embedded-user 7"
    paid = False

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """Return the next turn of the user."""
        # A replay needs no turn, and these imports would slow it down.
        if not transcript:
            from pytest_personalens.agents.embedded_user.voice.openings import opening

            return UserTurn(opening(scenario))
        from pytest_personalens.agents.embedded_user.errand.errand import Errand

        return Errand(scenario, transcript).next()
