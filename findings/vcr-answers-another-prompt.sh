#!/usr/bin/env bash
# Packages: vcrpy 9.4.2, requests 2.34.2 (Python 3.11)
# A good guess: with record_mode='none' a cassette answers what was recorded, and a request with another
# prompt is refused as not in it.
# What happens: requests are matched by method and address, not by what they carry: all prompts to one
# endpoint of a model are alike, and get the recorded answers one after the other. A test whose prompt was
# changed passes with the answer to the old one, and all_played is true; with match_on body it is refused.
# Output seen on 2026-11-29:
#   recorded: I eat no nuts.: an answer to 'I eat no nuts.'
#   recorded: What may I eat?: an answer to 'What may I eat?'
#   played {}: Forget all that.: an answer to 'I eat no nuts.'
#   played {}: I eat no nuts.: an answer to 'What may I eat?'
#   all played: True
#   played {'match_on': ['method', 'uri', 'body']}: Forget all that.: CannotOverwriteExistingCassetteException
#   played {'match_on': ['method', 'uri', 'body']}: I eat no nuts.: an answer to 'I eat no nuts.'
#   all played: False

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check vcrpy==9.4.2 requests==2.34.2

cat > program.py <<'PY'
import http.server
import json
import threading

import requests
import vcr


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        prompt = json.loads(self.rfile.read(int(self.headers["content-length"])))["prompt"]
        body = json.dumps({"reply": f"an answer to {prompt!r}"}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()


def ask(prompt):
    return requests.post(f"http://127.0.0.1:{server.server_port}/v1/chat", json={"prompt": prompt}).json()["reply"]


with vcr.use_cassette("cassette.yaml"):
    for prompt in ("I eat no nuts.", "What may I eat?"):
        print(f"recorded: {prompt}: {ask(prompt)}")
for options in ({}, {"match_on": ["method", "uri", "body"]}):
    with vcr.use_cassette("cassette.yaml", record_mode="none", **options) as cassette:
        for prompt in ("Forget all that.", "I eat no nuts."):
            try:
                reply = ask(prompt)
            except Exception as error:
                reply = type(error).__name__
            print(f"played {options}: {prompt}: {reply}")
        print(f"all played: {cassette.all_played}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
recorded: I eat no nuts.: an answer to 'I eat no nuts.'
recorded: What may I eat?: an answer to 'What may I eat?'
played {}: Forget all that.: an answer to 'I eat no nuts.'
played {}: I eat no nuts.: an answer to 'What may I eat?'
all played: True
played {'match_on': ['method', 'uri', 'body']}: Forget all that.: CannotOverwriteExistingCassetteException
played {'match_on': ['method', 'uri', 'body']}: I eat no nuts.: an answer to 'I eat no nuts.'
all played: False
END
)
[ "$seen" = "$expected" ]
