#!/usr/bin/env bash
# Packages: langchain-core 1.8.3 (Python 3.11)
# A good guess: filter_messages(include_types=["human"], include_names=["ann"]) keeps the messages of humans
# that are named ann.
# What happens: the conditions to include are joined by "or": each human message is kept, and each message
# named ann. The conditions to exclude are stronger than both.
# Output seen on 2026-11-28:
#   ['1', '2', '3']
#   ['1']

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check langchain-core==1.8.3

cat > program.py <<'PY'
from langchain_core.messages import AIMessage, HumanMessage, filter_messages

messages = [HumanMessage("1", name="ann"), HumanMessage("2", name="bob"), AIMessage("3", name="ann"), AIMessage("4", name="bot")]
kept = filter_messages(messages, include_types=["human"], include_names=["ann"])
print([message.content for message in kept])
kept = filter_messages(messages, include_types=["human"], exclude_names=["bob"])
print([message.content for message in kept])
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
['1', '2', '3']
['1']
END
)
[ "$seen" = "$expected" ]
