#!/usr/bin/env bash
# Packages: dspy 3.4.1 (Python 3.11)
# A good guess: ten calls of a judge at temperature 1 are ten requests, and their verdicts differ as the
# model's answers do.
# What happens: equal calls are answered from a cache, at any temperature, and from the disk in the next
# process too: the endpoint sees one request, and ten equal verdicts look like a judge that is always sure.
# The address is no part of a call: another server with a model of the same name gets the first one's
# verdicts. With cache=False, or another rollout_id for each call, each is asked.
# Output seen on 2026-11-29:
#   {}: 1 requests, 10 yes, 0 no
#   {'cache': False}: 10 requests, 5 yes, 5 no
#   an address where nothing listens: yes, 0 requests

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check dspy==3.4.1

cat > program.py <<'PY'
import http.server
import json
import logging
import threading

logging.disable(logging.CRITICAL)
import dspy

asked = []


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        asked.append(1)
        text = f"[[ ## verdict ## ]]\n{'yes' if len(asked) % 2 else 'no'}\n[[ ## completed ## ]]"
        message = {"role": "assistant", "content": text}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        body = json.dumps({**answer, "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
judge = dspy.Predict("reply -> verdict")
for options in ({}, {"cache": False}):
    dspy.configure(lm=dspy.LM("openai/m", api_base=f"http://127.0.0.1:{server.server_port}/v1", api_key="none", temperature=1.0, **options))
    asked.clear()
    verdicts = [judge(reply="Your table is booked.").verdict for _ in range(10)]
    print(f"{options}: {len(asked)} requests, {verdicts.count('yes')} yes, {verdicts.count('no')} no")
asked.clear()
dspy.configure(lm=dspy.LM("openai/m", api_base="http://127.0.0.1:1/v1", api_key="none", temperature=1.0))
print(f"an address where nothing listens: {judge(reply='Your table is booked.').verdict}, {len(asked)} requests")
PY

seen=$(DSPY_CACHEDIR=$folder/cache venv/bin/python program.py 2>/dev/null)
printf '%s\n' "$seen"
expected=$(cat <<'END'
{}: 1 requests, 10 yes, 0 no
{'cache': False}: 10 requests, 5 yes, 5 no
an address where nothing listens: yes, 0 requests
END
)
[ "$seen" = "$expected" ]
