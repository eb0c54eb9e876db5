#!/usr/bin/env bash
# Packages: boto3 1.44.8, botocore 1.44.8 (Python 3.11)
# A good guess: an empty AWS_BEARER_TOKEN_BEDROCK counts as not set, as an empty AWS_PROFILE does, so requests
# to Bedrock are signed with the access key that stands beside it.
# What happens: the empty token wins: each request has the header "Authorization: Bearer " and no signature.
# A CI job that passes on a secret which is not set has an empty variable, and its good keys are not used.
# Output seen on 2026-11-29 (no request leaves the process):
#   not set: AWS4-HMAC-SHA256
#   empty: Bearer
#   a token: Bearer

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check boto3==1.44.8 botocore==1.44.8

cat > program.py <<'PY'
import io
import os

import boto3
from botocore.awsrequest import AWSResponse

ANSWER = b'{"output": {"message": {"role": "assistant", "content": [{"text": "Hi."}]}}, "stopReason": "end_turn"}'


class Body(io.BytesIO):
    def stream(self, **options):
        yield self.read()


def answer(request, **options):
    print(f"{words}: {request.headers['Authorization'].decode().split()[0]}")
    return AWSResponse(request.url, 200, {"content-type": "application/json"}, Body(ANSWER))


os.environ |= {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "example", "AWS_DEFAULT_REGION": "eu-west-1"}
os.environ.pop("AWS_BEARER_TOKEN_BEDROCK", None)
for words, token in {"not set": None, "empty": "", "a token": "abc"}.items():
    if token is not None:
        os.environ["AWS_BEARER_TOKEN_BEDROCK"] = token
    client = boto3.Session().client("bedrock-runtime")
    client.meta.events.register("before-send.bedrock-runtime", answer)
    client.converse(modelId="m", messages=[{"role": "user", "content": [{"text": "Hello."}]}])
PY

seen=$(AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
not set: AWS4-HMAC-SHA256
empty: Bearer
a token: Bearer
END
)
[ "$seen" = "$expected" ]
