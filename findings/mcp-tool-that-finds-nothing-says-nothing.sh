#!/usr/bin/env bash
# Packages: mcp 2.3.0, fastmcp 4.2.3 (Python 3.11)
# A good guess: a tool `recall() -> list[str]` gives the model the text of its list: ["tea"] for one memory,
# [] for none, and the same from the servers of mcp and fastmcp.
# What happens: an empty list has no content at all in both, so a model that reads the content sees no sign
# that nothing was found, and cannot tell it from a tool that returns None. mcp sends a text for each item, so
# that one memory is a bare word; fastmcp sends the JSON of the list. An empty dictionary is the text {} in
# both. The structured content has the list each time.
# Output seen on 2026-11-29:
#   mcp recall two: ['tea', 'milk'], structured {'result': ['tea', 'milk']}
#   mcp recall one: ['tea'], structured {'result': ['tea']}
#   mcp recall none: [], structured {'result': []}
#   mcp profile one: ['{}'], structured {}
#   mcp forget one: [], structured {'result': None}
#   fastmcp recall two: ['["tea","milk"]'], structured {'result': ['tea', 'milk']}
#   fastmcp recall one: ['["tea"]'], structured {'result': ['tea']}
#   fastmcp recall none: [], structured {'result': []}
#   fastmcp profile one: ['{}'], structured {}
#   fastmcp forget one: [], structured None

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check mcp==2.3.0 fastmcp==4.2.3

cat > program.py <<'PY'
import asyncio, logging

import fastmcp, mcp
from mcp.server.mcpserver import MCPServer

logging.disable(logging.CRITICAL)
kept = {"two": ["tea", "milk"], "one": ["tea"], "none": []}


def recall(user: str) -> list[str]:
    return kept[user]


def profile(user: str) -> dict[str, str]:
    return {}


def forget(user: str) -> None:
    pass


async def ask(name, server, client):
    for tool in (recall, profile, forget):
        server.tool()(tool)
    async with client(server) as session:
        for tool, user in (("recall", "two"), ("recall", "one"), ("recall", "none"), ("profile", "one"), ("forget", "one")):
            result = await session.call_tool(tool, {"user": user})
            print(f"{name} {tool} {user}: {[block.text for block in result.content]}, structured {result.structured_content}")


asyncio.run(ask("mcp", MCPServer("memory"), mcp.Client))
asyncio.run(ask("fastmcp", fastmcp.FastMCP("memory"), fastmcp.Client))
PY

seen=$(venv/bin/python program.py)
printf '%s\n' "$seen"
expected=$(cat <<'END'
mcp recall two: ['tea', 'milk'], structured {'result': ['tea', 'milk']}
mcp recall one: ['tea'], structured {'result': ['tea']}
mcp recall none: [], structured {'result': []}
mcp profile one: ['{}'], structured {}
mcp forget one: [], structured {'result': None}
fastmcp recall two: ['["tea","milk"]'], structured {'result': ['tea', 'milk']}
fastmcp recall one: ['["tea"]'], structured {'result': ['tea']}
fastmcp recall none: [], structured {'result': []}
fastmcp profile one: ['{}'], structured {}
fastmcp forget one: [], structured None
END
)
[ "$seen" = "$expected" ]
