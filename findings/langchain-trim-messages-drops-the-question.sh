#!/usr/bin/env bash
# Packages: langchain-core 1.8.3 (Python 3.11)
# A good guess: trim_messages(strategy="last", include_system=True) keeps the system message and the user's
# last message whatever they take, or raises an error where they do not fit.
# What happens: where the last message alone is too long, what is left is the system message and nothing
# else, or an empty list without one, and no error tells it: the model is asked nothing, while older short
# messages that would fit are dropped too.
# Output seen on 2026-11-29:
#   4 words in the question, kept: ['system', 'human', 'ai', 'human']
#   4 words in the question, kept: ['human', 'ai', 'human']
#   24 words in the question, kept: ['system']
#   24 words in the question, kept: []

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check langchain-core==1.8.3

cat > program.py <<'PY'
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, trim_messages


def words(messages):
    return sum(len(message.content.split()) for message in messages)


known, told, noted = SystemMessage("You know Ann."), HumanMessage("I like tea."), AIMessage("Noted.")
for question in ("What do I like?", "What " + "really " * 20 + "do I like?"):
    for chat in ([known, told, noted, HumanMessage(question)], [told, noted, HumanMessage(question)]):
        kept = trim_messages(chat, max_tokens=15, token_counter=words, strategy="last", include_system=True)
        print(len(question.split()), "words in the question, kept:", [message.type for message in kept])
PY

seen=$(venv/bin/python -W ignore program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
4 words in the question, kept: ['system', 'human', 'ai', 'human']
4 words in the question, kept: ['human', 'ai', 'human']
24 words in the question, kept: ['system']
24 words in the question, kept: []
END
)
[ "$seen" = "$expected" ]
