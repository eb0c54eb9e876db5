#!/usr/bin/env bash
# Packages: google-adk 2.13.0 (Python 3.11)
# A good guess: a search of ADK's in-memory memory that asks what I eat brings what the user said about food,
# or nothing.
# What happens: an entry is found if it shares one whole word with the question, and 'I' is a word: everything
# that the user said in the first person comes back, in the order of the sessions. 'allergies' and 'nuts' find
# nothing of 'nut allergy'. A test of recall over this service passes with any question that says 'I', and
# tells nothing about the memory in production.
# Output seen on 2026-11-29:
#   What do I eat?: ['I have a nut allergy.', 'I moved to Leeds in May.']
#   Any allergy?: ['I have a nut allergy.']
#   Any allergies?: []
#   nuts: []

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check google-adk==2.13.0

cat > program.py <<'PY'
import asyncio
import logging
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
from google.adk.events import Event
from google.adk.memory import InMemoryMemoryService
from google.adk.sessions import InMemorySessionService
from google.genai.types import Content, Part

SAID = ("I have a nut allergy.", "I moved to Leeds in May.", "Trains after ten suit me.")


async def main():
    sessions, memory = InMemorySessionService(), InMemoryMemoryService()
    user = {"app_name": "bot", "user_id": "ann"}
    for number, text in enumerate(SAID):
        session = await sessions.create_session(**user, session_id=str(number))
        content = Content(role="user", parts=[Part(text=text)])
        await sessions.append_event(session, Event(author="user", content=content))
        await memory.add_session_to_memory(await sessions.get_session(**user, session_id=str(number)))
    for query in ("What do I eat?", "Any allergy?", "Any allergies?", "nuts"):
        found = await memory.search_memory(**user, query=query)
        print(f"{query}: {[entry.content.parts[0].text for entry in found.memories]}")


asyncio.run(main())
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
What do I eat?: ['I have a nut allergy.', 'I moved to Leeds in May.']
Any allergy?: ['I have a nut allergy.']
Any allergies?: []
nuts: []
END
)
[ "$seen" = "$expected" ]
