#!/usr/bin/env bash
# Packages: mcp 2.3.0 (Python 3.11)
# A good guess: a tool with a parameter `note: str | None` gets the text that the model sent, as one with
# `note: str` does.
# What happens: where the annotation is not exactly str, text is first read as JSON: "[1, 2]" becomes a list,
# which is then refused because it is no string, and "null" becomes None. With `note: str` both arrive as they
# are.
# Output seen on 2026-11-28:
#   milk to plain: 'milk'
#   milk to optional: 'milk'
#   [1, 2] to plain: '[1, 2]'
#   [1, 2] to optional: refused, a valid string is wanted
#   null to plain: 'null'
#   null to optional: None
#   7 to plain: '7'
#   7 to optional: '7'

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mcp==2.3.0

cat > program.py <<'PY'
import asyncio, logging

from mcp import Client
from mcp.server.mcpserver import MCPServer

logging.disable(logging.CRITICAL)
server = MCPServer("notes")


@server.tool()
def plain(note: str) -> str:
    return repr(note)


@server.tool()
def optional(note: str | None = None) -> str:
    return repr(note)


async def main():
    async with Client(server) as client:
        for note in ("milk", "[1, 2]", "null", "7"):
            for tool in ("plain", "optional"):
                result = await client.call_tool(tool, {"note": note})
                text = result.content[0].text
                print(f"{note} to {tool}:", "refused, a valid string is wanted" if result.is_error and "valid string" in text else text)


asyncio.run(main())
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
milk to plain: 'milk'
milk to optional: 'milk'
[1, 2] to plain: '[1, 2]'
[1, 2] to optional: refused, a valid string is wanted
null to plain: 'null'
null to optional: None
7 to plain: '7'
7 to optional: '7'
END
)
[ "$seen" = "$expected" ]
