"""The fixture tools, for whichever Python SDK, and the command line that they are served by."""

import socket
import sys
from collections.abc import Callable

import anyio
import uvicorn

cancelled = False


def add_tools(tool: Callable, context: type, error: type[Exception]) -> None:
    """By the SDK's decorator, with its kind of context and its error of a tool."""

    @tool
    def echo(text: str) -> str:
        return text

    @tool
    def add(a: float, b: float) -> str:
        return f"{a + b:g}"

    @tool
    async def sleep(ms: int) -> str:
        global cancelled
        try:
            await anyio.sleep(ms / 1000)
        except anyio.get_cancelled_exc_class():
            cancelled = True
            raise
        return "slept"

    @tool
    def seen() -> str:
        return str(cancelled).lower()

    @tool
    async def steps(cx: context) -> str:
        for step in (1, 2, 3):
            await cx.report_progress(step, 3)
            await anyio.sleep(0.25)
        return "done"

    @tool
    def fail(text: str) -> str:
        raise error(text)


def serve(stdio: Callable[[], None], http: Callable[[], object], path: str = "/mcp") -> None:
    """`--stdio`, or `--port P` with the application that the SDK makes, whose endpoint is at `path`."""
    if "--port" not in sys.argv:
        stdio()
        return
    listener = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}{path}", flush=True)
    uvicorn.Server(uvicorn.Config(http(), log_level="warning")).run(sockets=[listener])
