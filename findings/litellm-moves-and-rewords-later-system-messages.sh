#!/usr/bin/env bash
# Packages: litellm 1.110.2 (Python 3.11)
# A good guess: a system message in the middle of a dialogue reaches each provider in its place and as a
# system message, or is refused.
# What happens: for Anthropic it is a part of the user's next message, with a sentence of LiteLLM's own before
# it; for Gemini it moves to the front, so that the model has the rule from the first turn on. An empty reply
# of the assistant becomes a sentence about protocol for Anthropic. Simulated dialogues that change the rules
# midway are other dialogues with each provider.
# Output seen on 2026-11-29:
#   anthropic
#     system: ['Be kind.']
#     user: ['Hello.']
#     assistant: ['[System: Empty message content sanitised to satisfy protocol]']
#     user: ['Operator note (not from the user): the following was originally a mid-conversation system-role reminder.', 'Be short.', 'Tea?']
#   gemini
#     system: ['Be kind.', 'Be short.']
#     user: ['Hello.']
#     model: ['']
#     user: ['Tea?']

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check litellm==1.110.2

cat > program.py <<'PY'
import http.server
import json
import os
import threading

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm

ANSWERS = {
    "anthropic": {"id": "1", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}},
    "gemini": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}},
}
sent = []


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        sent.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        body = json.dumps(ANSWERS["anthropic" if "messages" in sent[-1] else "gemini"]).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
turns = (("system", "Be kind."), ("user", "Hello."), ("assistant", ""), ("system", "Be short."), ("user", "Tea?"))
for model in ("anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"):
    messages = [{"role": role, "content": text} for role, text in turns]
    litellm.completion(model=model, messages=messages, api_base=f"http://127.0.0.1:{server.server_port}", api_key="none", max_tokens=9)
    print(model.split("/")[0])
    system = sent[-1].get("system") or sent[-1]["system_instruction"]["parts"]
    print(f"  system: {[part['text'] for part in system]}")
    for turn in sent[-1].get("messages") or sent[-1]["contents"]:
        print(f"  {turn['role']}: {[part['text'] for part in turn.get('content') or turn['parts']]}")
PY

seen=$(venv/bin/python program.py 2>/dev/null)
printf '%s\n' "$seen"
expected=$(cat <<'END'
anthropic
  system: ['Be kind.']
  user: ['Hello.']
  assistant: ['[System: Empty message content sanitised to satisfy protocol]']
  user: ['Operator note (not from the user): the following was originally a mid-conversation system-role reminder.', 'Be short.', 'Tea?']
gemini
  system: ['Be kind.', 'Be short.']
  user: ['Hello.']
  model: ['']
  user: ['Tea?']
END
)
[ "$seen" = "$expected" ]
