import socket
import threading

import uvicorn
from mcp.server import MCPServer

server = MCPServer("bot")


@server.tool()
def chat(message: str, session: str) -> str:
    """Answer a message."""
    return f"I've booked it: reference QX77, for {message!r}."


listening = socket.create_server(("127.0.0.1", 0))
config = uvicorn.Config(server.streamable_http_app(), log_level="error")
threading.Thread(target=uvicorn.Server(config).run, args=([listening],), daemon=True).start()
URL = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
