#!/usr/bin/env bash
# Packages: langchain-core 1.8.3 (Python 3.11)
# A good guess: merge_message_runs joins messages in a row of the same person; two messages with different
# names, in a chat of two people, stay apart.
# What happens: all messages in a row of one type are joined, and the names are gone: what Ben likes stands
# in one message with what Ann likes. Where both are Ann's, her name is lost too.
# Output seen on 2026-11-29:
#   ann, ben: [(None, 'I like tea.\nI like milk.')]
#   ann, ann: [(None, 'I like tea.\nI like milk.')]

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check langchain-core==1.8.3

cat > program.py <<'PY'
from langchain_core.messages import HumanMessage, merge_message_runs

for second in ("ben", "ann"):
    said = [HumanMessage("I like tea.", name="ann"), HumanMessage("I like milk.", name=second)]
    print(f"ann, {second}:", [(message.name, message.content) for message in merge_message_runs(said)])
PY

seen=$(venv/bin/python -W ignore program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
ann, ben: [(None, 'I like tea.\nI like milk.')]
ann, ann: [(None, 'I like tea.\nI like milk.')]
END
)
[ "$seen" = "$expected" ]
