"""The fixture tools on the Python SDK: `server.py --stdio` or `server.py --port P`."""

import socket
import sys

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("python-server")
cancelled = False


@server.tool(structured_output=False)
def echo(text: str) -> str:
    return text


@server.tool(structured_output=False)
def add(a: float, b: float) -> str:
    return f"{a + b:g}"


@server.tool(structured_output=False)
async def sleep(ms: int) -> str:
    global cancelled
    try:
        await anyio.sleep(ms / 1000)
    except anyio.get_cancelled_exc_class():
        cancelled = True
        raise
    return "slept"


@server.tool(structured_output=False)
def seen() -> str:
    return str(cancelled).lower()


@server.tool(structured_output=False)
async def steps(context: Context) -> str:
    for step in (1, 2, 3):
        await context.report_progress(step, 3)
        await anyio.sleep(0.05)
    return "done"


@server.tool(structured_output=False)
def fail(text: str) -> str:
    raise ToolError(text)


def main() -> None:
    if "--port" not in sys.argv:
        server.run("stdio")
        return
    listener = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="warning")).run(sockets=[listener])


main()
