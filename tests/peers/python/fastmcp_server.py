"""The fixture tools on FastMCP: `fastmcp_server.py --stdio` or `fastmcp_server.py --port P`."""

import socket
import sys

import anyio
import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

server = FastMCP("fastmcp-server")
cancelled = False


@server.tool(output_schema=None)
def echo(text: str) -> str:
    return text


@server.tool(output_schema=None)
def add(a: float, b: float) -> str:
    return f"{a + b:g}"


@server.tool(output_schema=None)
async def sleep(ms: int) -> str:
    global cancelled
    try:
        await anyio.sleep(ms / 1000)
    except anyio.get_cancelled_exc_class():
        cancelled = True
        raise
    return "slept"


@server.tool(output_schema=None)
def seen() -> str:
    return str(cancelled).lower()


@server.tool(output_schema=None)
async def steps(context: Context) -> str:
    for step in (1, 2, 3):
        await context.report_progress(step, 3)
        await anyio.sleep(0.05)
    return "done"


@server.tool(output_schema=None)
def fail(text: str) -> str:
    raise ToolError(text)


def main() -> None:
    if "--port" not in sys.argv:
        server.run("stdio", show_banner=False)
        return
    listener = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(server.http_app(), log_level="warning")).run(sockets=[listener])


main()
