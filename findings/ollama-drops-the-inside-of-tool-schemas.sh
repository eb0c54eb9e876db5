#!/usr/bin/env bash
# Packages: ollama 0.6.3 (Python 3.11)
# A good guess: a tool given to ollama.Client.chat as a JSON schema reaches the server as it was written, as
# with the openai client.
# What happens: the client sends only the type, description, enum and items of a property. What stands inside
# an object (its properties, what is required), the limits and the default are left out without a word, so the
# model sees "when" as an object without fields.
# Output seen on 2026-11-28:
#   when   {'type': 'object'}
#   people {'type': 'integer', 'description': 'How many come.'}

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check ollama==0.6.3

cat > program.py <<'PY'
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import ollama

bodies = []


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        answer = json.dumps({"model": "m", "done": True, "message": {"role": "assistant", "content": "Yes."}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *words):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
when = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
people = {"type": "integer", "minimum": 1, "default": 2, "description": "How many come."}
schema = {"type": "object", "properties": {"when": when, "people": people}, "required": ["when"]}
tool = {"type": "function", "function": {"name": "book", "description": "Books a table.", "parameters": schema}}
client = ollama.Client(host=f"http://127.0.0.1:{server.server_port}", trust_env=False)
client.chat(model="m", messages=[{"role": "user", "content": "A table, please"}], tools=[tool])
sent = bodies[0]["tools"][0]["function"]["parameters"]["properties"]
print("when  ", sent["when"])
print("people", sent["people"])
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
when   {'type': 'object'}
people {'type': 'integer', 'description': 'How many come.'}
END
)
[ "$seen" = "$expected" ]
