"""What a service is sent: JSON with places for what is said, and by whom."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError

if TYPE_CHECKING:
    from pytest_personalens.models.base import Conversation

#: The ini key that holds a template.
REQUEST: Final = "personalens_assistant_request"
_NAMES: Final = ("message", "messages", "user", "session", "context")
_PLACE: Final = re.compile(r"\{([A-Za-z_]+)\}")


class Template:
    """A request body: JSON whose texts hold places such as ``{message}`` or ``{user}``.

    A text that is ``{messages}`` and nothing else becomes the list. Raise `SpecError` for what is no JSON,
    for an unknown place, and if nothing of what is said is sent.
    """

    def __init__(self, text: str) -> None:
        try:
            self._body = json.loads(text)
        except ValueError as error:
            raise SpecError(f"{REQUEST}: expected JSON ({error})") from None
        places = {name for part in _texts(self._body) for name in _PLACE.findall(part)}
        for name in sorted(places - set(_NAMES)):
            names = ", ".join(f"{{{place}}}" for place in _NAMES)
            raise SpecError(f"{REQUEST}: unknown place {{{name}}}; known: {names}", code="PL204")
        if not places & {"message", "messages"}:
            raise SpecError(
                f"{REQUEST}: nothing that the user says is sent; write {{message}} or {{messages}}",
                code="PL204",
            )
        if any("{messages}" in part and part != "{messages}" for part in _texts(self._body)):
            raise SpecError(
                f'{REQUEST}: {{messages}} is a list; let it stand alone, as "{{messages}}"', code="PL204"
            )
        #: True if the service is told what is known of the user.
        self.tells_context = "context" in places

    def fill(self, conversation: Conversation) -> bytes:
        """Return the body of one request."""
        values = {
            "message": conversation.messages[-1]["content"],
            "user": conversation.user,
            "session": conversation.session,
            "context": conversation.context,
        }

        def fill_in(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: fill_in(part) for key, part in value.items()}
            if isinstance(value, list):
                return [fill_in(part) for part in value]
            if value == "{messages}":
                return list(conversation.messages)
            return _PLACE.sub(lambda place: values[place[1]], value) if isinstance(value, str) else value

        return json.dumps(fill_in(self._body)).encode()


def _texts(value: Any) -> list[str]:
    """Return every text in JSON data that is a value."""
    if isinstance(value, (dict, list)):
        parts = value.values() if isinstance(value, dict) else value
        return [text for part in parts for text in _texts(part)]
    return [value] if isinstance(value, str) else []
