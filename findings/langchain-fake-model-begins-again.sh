#!/usr/bin/env bash
# Packages: langchain-core 1.8.3 (Python 3.11)
# A good guess: a FakeListChatModel with two replies raises an error at the third call, so a test sees that
# the code under test asked once too often.
# What happens: it begins again with the first reply, without a word, so a loop that asks for ever or a
# retry too many looks like a dialogue that goes on. GenericFakeChatModel, made of an iterator, does stop.
# Output seen on 2026-11-29:
#   FakeListChatModel ['Which day?', 'Booked.', 'Which day?', 'Booked.']
#   GenericFakeChatModel ['Which day?', 'Booked.', 'no reply left', 'no reply left']

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check langchain-core==1.8.3

cat > program.py <<'PY'
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage

replies = ["Which day?", "Booked."]
for model in (
    FakeListChatModel(responses=replies),
    GenericFakeChatModel(messages=iter([AIMessage(text) for text in replies])),
):
    said = []
    for _ in range(4):
        try:
            said.append(model.invoke("Book a table.").content)
        except (StopIteration, RuntimeError):
            said.append("no reply left")
    print(type(model).__name__, said)
PY

seen=$(venv/bin/python -W ignore program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
FakeListChatModel ['Which day?', 'Booked.', 'Which day?', 'Booked.']
GenericFakeChatModel ['Which day?', 'Booked.', 'no reply left', 'no reply left']
END
)
[ "$seen" = "$expected" ]
