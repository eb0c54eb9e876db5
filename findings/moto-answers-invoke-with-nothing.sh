#!/usr/bin/env bash
# Packages: moto 5.2.5 boto3 1.44.8 (Python 3.11)
# A good guess: moto stands in for the Bedrock runtime, or refuses what it does not know: both ways to ask a
# model are alike.
# What happens: Converse raises NotImplementedError, but InvokeModel of any model and any body is answered
# with status 200 and the body {}. A bot that reads it with .get() passes its tests with an empty reply, and a
# wrong request body is never noticed.
# Output seen on 2026-11-29:
#   converse: NotImplementedError: The converse action has not been implemented
#   invoke_model ['messages']: 200 {}
#   invoke_model ['no']: 200 {}

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check moto==5.2.5 boto3==1.44.8

cat > program.py <<'PY'
import json

import boto3
from moto import mock_aws

keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "eu-west-1"}
question = [{"role": "user", "content": [{"text": "Is it booked?"}]}]
with mock_aws():
    client = boto3.client("bedrock-runtime", **keys)
    try:
        client.converse(modelId="m", messages=question)
    except NotImplementedError as error:
        print("converse: NotImplementedError:", error)
    for body in ({"messages": question}, {"no": "request"}):
        answer = client.invoke_model(modelId="m", body=json.dumps(body))
        status = answer["ResponseMetadata"]["HTTPStatusCode"]
        print(f"invoke_model {list(body)}: {status} {answer['body'].read().decode()}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
converse: NotImplementedError: The converse action has not been implemented
invoke_model ['messages']: 200 {}
invoke_model ['no']: 200 {}
END
)
[ "$seen" = "$expected" ]
