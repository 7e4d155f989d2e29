"""The fixture tools on the Python SDK of January 2025, which speaks 2024-11-05 and nothing else: `server_2024.py --stdio`, or
`--port P` for its HTTP with SSE."""

from fixture import add_tools, serve
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.sse import SseServerTransport
from starlette.applications import Starlette
from starlette.routing import Mount, Route

server = FastMCP("python-server-2024")
add_tools(server.tool(), Context, ValueError)


def http_sse() -> Starlette:
    transport = SseServerTransport("/messages/")

    async def stream(request: object) -> None:
        inner = server._mcp_server  # Nothing public has it.
        async with transport.connect_sse(request.scope, request.receive, request._send) as streams:
            await inner.run(*streams, inner.create_initialization_options())

    return Starlette(routes=[Route("/sse", stream), Mount("/messages/", transport.handle_post_message)])


serve(lambda: server.run("stdio"), http_sse, "/sse")
