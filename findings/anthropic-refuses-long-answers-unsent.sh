#!/usr/bin/env bash
# Packages: anthropic 2.14.0 (Python 3.11)
# A good guess: max_tokens is the server's business: the client sends any number, and the server refuses what
# is too much for the model.
# What happens: without stream=True the client itself raises a ValueError from 21,334 tokens on (10 minutes at
# 128,000 tokens an hour), and sends nothing; an explicit timeout lets it pass. A judge that was given room
# for its thoughts fails before its first call, for any model.
# Output seen on 2026-11-29:
#   max_tokens=21333 : 1 sent, yes
#   max_tokens=21334 : 0 sent, ValueError: Streaming is required for operations that may take longer than 10 minutes
#   max_tokens=64000 : 0 sent, ValueError: Streaming is required for operations that may take longer than 10 minutes
#   max_tokens=64000 {'timeout': 900}: 1 sent, yes

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check anthropic==2.14.0

cat > program.py <<'PY'
import logging
import warnings

import anthropic
import httpx2

warnings.simplefilter("ignore")
answer = {
    "id": "a", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
    "stop_sequence": None, "content": [{"type": "text", "text": "yes"}],
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
sent = []
transport = httpx2.MockTransport(lambda request: sent.append(1) or httpx2.Response(200, json=answer))
client = anthropic.Anthropic(api_key="none", http_client=httpx2.Client(transport=transport))
for tokens, more in ((21_333, {}), (21_334, {}), (64_000, {}), (64_000, {"timeout": 900})):
    sent.clear()
    try:
        question = [{"role": "user", "content": "Was it done?"}]
        reply = client.messages.create(model="any-model", max_tokens=tokens, messages=question, **more)
        came = reply.content[0].text
    except ValueError as error:
        came = f"ValueError: {str(error).split('.')[0]}"
    print(f"max_tokens={tokens} {more or ''}: {len(sent)} sent, {came}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
max_tokens=21333 : 1 sent, yes
max_tokens=21334 : 0 sent, ValueError: Streaming is required for operations that may take longer than 10 minutes
max_tokens=64000 : 0 sent, ValueError: Streaming is required for operations that may take longer than 10 minutes
max_tokens=64000 {'timeout': 900}: 1 sent, yes
END
)
[ "$seen" = "$expected" ]
