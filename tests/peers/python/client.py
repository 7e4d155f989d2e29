"""The Python SDK's client behind the command line of our own `.._fixture_client` (see ../README.md)."""

import json
import sys
from collections.abc import Callable

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.types import ElicitResult

MODES = {"auto": "auto", "legacy": "legacy", "modern": "2026-07-28"}
DEFAULT_TIMEOUT = 60_000.0


def show(**event: object) -> None:
    print(json.dumps(event), flush=True)


async def progressed(progress: float, total: float | None, message: str | None) -> None:
    show(event="progress", progress=progress, total=total, message=message)


async def call(client: Client, step: dict) -> None:
    with anyio.move_on_after(step["cancel_after"] / 1000) as scope:
        result = await client.call_tool(
            step["name"],
            step["arguments"],
            read_timeout_seconds=step["timeout"] / 1000,
            progress_callback=progressed,
        )
        fields = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        show(event="result", method="tools/call", name=step["name"], result=fields)
    if scope.cancelled_caught:
        raise TimeoutError("cancelled")


def answering(answers: dict) -> Callable:
    async def answer(context: object, params: object) -> ElicitResult:
        show(event="asked", message=params.message)
        fields = params.requested_schema["properties"]
        return ElicitResult(action="accept", content={field: answers[field] for field in fields})

    return answer


async def run(server: StdioServerParameters | str, mode: str, answers: dict | None, steps: list[dict]) -> bool:
    failed = False
    asked = {} if answers is None else {"elicitation_callback": answering(answers)}
    async with Client(server, mode=mode, **asked) as client:
        info = client.server_info
        show(
            event="connected",
            era="modern" if client.protocol_version >= "2026" else "legacy",
            revision=client.protocol_version,
            server=info and {"name": info.name, "version": info.version},
        )
        for step in steps:
            try:
                if "list" in step:
                    listed = await client.list_tools()
                    show(event="result", method="tools/list", tools=[tool.name for tool in listed.tools])
                else:
                    await call(client, step)
            except (MCPError, TimeoutError) as error:
                failed = True
                show(event="error", name=step.get("name"), message=str(error), code=getattr(error, "code", None))
    show(event="closed")
    return failed


def main() -> None:
    args = sys.argv[1:]
    server: StdioServerParameters | str = ""
    mode, timeout, cancel_after = "auto", DEFAULT_TIMEOUT, float("inf")
    answers: dict | None = None
    steps: list[dict] = []
    while args:
        option, value = args.pop(0), args.pop(0)
        if option == "--connect":
            server = value
        elif option == "--connect-sse":
            server = sse_client(value)
        elif option == "--spawn":
            server, args = StdioServerParameters(command=value, args=args), []
        elif option == "--era":
            mode = MODES[value]
        elif option == "--timeout":
            timeout = float(value)
        elif option == "--cancel-after":
            cancel_after = float(value)
        elif option == "--answers":
            answers = json.loads(value)
        elif option == "--list":
            steps.append({"list": value})
        elif option == "--call":
            arguments = json.loads(args.pop(0))
            steps.append({"name": value, "arguments": arguments, "timeout": timeout, "cancel_after": cancel_after})
            # `--timeout` and `--cancel-after` concern the next call only.
            timeout, cancel_after = DEFAULT_TIMEOUT, float("inf")
        else:
            sys.exit(f"unknown option {option}")
    sys.exit(anyio.run(run, server, mode, answers, steps))


main()
