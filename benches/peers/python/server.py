"""The tools that are measured, on the Python SDK."""

import argparse
import socket

import uvicorn
from mcp.server.mcpserver import Context, MCPServer

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--stdio", action="store_true")
parser.add_argument("--port", type=int)
parser.add_argument("--tools", type=int, default=0, help="so many tools that do nothing besides")
options = parser.parse_args()

server = MCPServer("bench-python", log_level="ERROR")


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Says the text back."""
    return text


@server.tool(structured_output=False)
async def burst(count: int, cx: Context) -> str:
    """Reports progress as fast as it can."""
    for step in range(1, count + 1):
        await cx.report_progress(step)
    return "done"


def nothing() -> str:
    return ""


for number in range(options.tools):
    server.add_tool(nothing, name=f"dummy_{number:05}", description="Does nothing.", structured_output=False)

if options.port is None:
    server.run("stdio")
else:
    listener = socket.create_server(("127.0.0.1", options.port))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="warning")).run(sockets=[listener])
