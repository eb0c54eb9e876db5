#!/usr/bin/env bash
# Packages: boto3 1.44.8 (Python 3.11)
# A good guess: botocore's Stubber can answer ConverseStream with a list of events, as the client's stream
# gives them one by one.
# What happens: a list is refused when the answer is added, because the model of the service has a structure
# there; one event as a dict is let in, and then the stream of the client is that dict, whose items are its
# keys. So a bot that reads a stream cannot be tested by a Stubber.
# Output seen on 2026-11-29:
#   three events: Invalid type for parameter stream
#   one event: dict ['contentBlockDelta']

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check boto3==1.44.8

cat > program.py <<'PY'
import boto3
from botocore.exceptions import ParamValidationError
from botocore.stub import Stubber

keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "eu-west-1"}
events = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"delta": {"text": "Yes."}, "contentBlockIndex": 0}},
    {"messageStop": {"stopReason": "end_turn"}},
]
client = boto3.client("bedrock-runtime", **keys)
stubber = Stubber(client)
try:
    stubber.add_response("converse_stream", {"stream": events})
except ParamValidationError as error:
    print("three events:", str(error).splitlines()[-1].partition(", value")[0])
stubber.add_response("converse_stream", {"stream": events[1]})
stubber.activate()
question = [{"role": "user", "content": [{"text": "Is it booked?"}]}]
stream = client.converse_stream(modelId="m", messages=question)["stream"]
print("one event:", type(stream).__name__, list(stream))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
three events: Invalid type for parameter stream
one event: dict ['contentBlockDelta']
END
)
[ "$seen" = "$expected" ]
