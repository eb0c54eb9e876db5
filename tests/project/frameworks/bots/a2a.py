import socket
import threading

import uvicorn
from a2a.helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from starlette.applications import Starlette


class Bot(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = f"I've booked it: reference QX77, for {context.get_user_input()!r}."
        await event_queue.enqueue_event(new_text_message(text, context_id=context.context_id))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


listening = socket.create_server(("127.0.0.1", 0))
URL = f"http://127.0.0.1:{listening.getsockname()[1]}"
card = AgentCard(
    name="bot",
    description="books tables",
    version="1",
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    capabilities=AgentCapabilities(),
    supported_interfaces=[
        AgentInterface(protocol_binding="JSONRPC", url=f"{URL}/rpc", protocol_version="1.0")
    ],
)
handler = DefaultRequestHandler(Bot(), InMemoryTaskStore(), card)
app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/rpc")])
config = uvicorn.Config(app, log_level="error")
threading.Thread(target=uvicorn.Server(config).run, args=([listening],), daemon=True).start()
