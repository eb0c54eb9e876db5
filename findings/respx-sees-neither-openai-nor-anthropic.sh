#!/usr/bin/env bash
# Packages: openai 3.57.0, anthropic 2.14.0, respx 0.23.1 (Python 3.11)
# A good guess: a test that mocks httpx with respx catches the calls of both clients, since both are built on
# httpx.
# What happens: both clients use the package httpx2 unless told otherwise, so respx sees nothing and the
# requests leave for the network (here for a closed local port). openai still takes an httpx.Client as
# http_client, which respx catches; anthropic refuses one.
# Output seen on 2026-11-28:
#   ask_openai as it is: APIConnectionError, calls caught so far 0
#   ask_openai with httpx: Hi., calls caught so far 1
#   ask_anthropic as it is: APIConnectionError, calls caught so far 1
#   ask_anthropic with httpx: TypeError, calls caught so far 1

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check openai==3.57.0 anthropic==2.14.0 respx==0.23.1

cat > program.py <<'PY'
import anthropic, httpx, openai, respx

hello = [{"role": "user", "content": "Hello"}]
choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi."}}
completion = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def ask_openai(**options):
    client = openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9/v1", max_retries=0, **options)
    return client.chat.completions.create(model="m", messages=hello).choices[0].message.content


def ask_anthropic(**options):
    client = anthropic.Anthropic(api_key="k", base_url="http://127.0.0.1:9", max_retries=0, **options)
    return client.messages.create(model="m", max_tokens=9, messages=hello).content[0].text


with respx.mock(assert_all_called=False) as mock:
    mock.post("http://127.0.0.1:9/v1/chat/completions").respond(json=completion)
    mock.post("http://127.0.0.1:9/v1/messages").respond(json={})
    for ask in (ask_openai, ask_anthropic):
        for name, options in (("as it is", {}), ("with httpx", {"http_client": httpx.Client()})):
            try:
                seen = ask(**options)
            except Exception as error:
                seen = type(error).__name__
            print(f"{ask.__name__} {name}: {seen}, calls caught so far {len(mock.calls)}")
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
ask_openai as it is: APIConnectionError, calls caught so far 0
ask_openai with httpx: Hi., calls caught so far 1
ask_anthropic as it is: APIConnectionError, calls caught so far 1
ask_anthropic with httpx: TypeError, calls caught so far 1
END
)
[ "$seen" = "$expected" ]
