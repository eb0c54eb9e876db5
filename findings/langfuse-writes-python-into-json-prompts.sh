#!/usr/bin/env bash
# Packages: langfuse 5.0.4 (Python 3.11)
# A good guess: a prompt {"profile": {{profile}}} that is compiled with a dictionary holds JSON, or the
# compilation is refused; a variable that was not given is refused too.
# What happens: the dictionary is written as Python shows it (single quotes, True, None), so the prompt is no
# JSON any more; and a variable that was not given, or misspelt, stays in the text with its braces.
# Output seen on 2026-11-28:
#   {"profile": {'tea': True}, "day": "{{day}}"}
#   no JSON
#   {'profile': {'tea': True}, 'day': 'Friday'}

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check langfuse==5.0.4

cat > program.py <<'PY'
import json

from langfuse.model import Prompt_Text, TextPromptClient

text = '{"profile": {{profile}}, "day": "{{day}}"}'
prompt = TextPromptClient(Prompt_Text(name="p", version=1, prompt=text, config={}, labels=[], tags=[]))
compiled = prompt.compile(profile={"tea": True}, dya="Friday")
print(compiled)
try:
    json.loads(compiled)
except ValueError:
    print("no JSON")
print(json.loads(prompt.compile(profile=json.dumps({"tea": True}), day="Friday")))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
{"profile": {'tea': True}, "day": "{{day}}"}
no JSON
{'profile': {'tea': True}, 'day': 'Friday'}
END
)
[ "$seen" = "$expected" ]
