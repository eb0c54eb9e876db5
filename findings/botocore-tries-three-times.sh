#!/usr/bin/env bash
# Packages: boto3 1.44.8, botocore 1.44.8 (Python 3.11)
# A good guess: a client without settings retries in the mode "legacy", so a Bedrock endpoint that is always
# overloaded sees five requests (one and four retries).
# What happens: the mode is "standard" and the endpoint sees three requests. A budget of calls or a test that
# counts on five is wrong from this version on.
# Output seen on 2026-11-28:
#   status 503
#   mode standard
#   requests 3

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check boto3==1.44.8 botocore==1.44.8

cat > program.py <<'PY'
import os, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3

os.environ.update(AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b", AWS_CONFIG_FILE="none", AWS_SHARED_CREDENTIALS_FILE="none")
for name in ("AWS_RETRY_MODE", "AWS_MAX_ATTEMPTS", "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE"):
    os.environ.pop(name, None)
requests = []


class Overloaded(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        requests.append(self.path)
        self.send_response(503)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *words):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Overloaded)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=f"http://127.0.0.1:{server.server_port}")
try:
    client.converse(modelId="m", messages=[{"role": "user", "content": [{"text": "Hello"}]}])
except client.exceptions.ClientError as error:
    print("status", error.response["ResponseMetadata"]["HTTPStatusCode"])
print("mode", client.meta.config.retries["mode"])
print("requests", len(requests))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
status 503
mode standard
requests 3
END
)
[ "$seen" = "$expected" ]
