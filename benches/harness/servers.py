"""What is measured, and how it is started."""

from dataclasses import dataclass, field
from pathlib import Path
from platform import machine

BENCHES = Path(__file__).resolve().parent.parent
ROOT = BENCHES.parent
LOAD = BENCHES / "load"
PEERS = BENCHES / "peers"
BIN = BENCHES / "bin"
"""Programs are copied here: ours have one name on all runtimes, and cargo may be told to build elsewhere."""

TOOLS = 100
"""How many a server has where many are needed. A server of some SDKs is set up for each request, so more tools make
all of its calls slower."""


@dataclass(frozen=True)
class Server:
    name: str
    title: str
    kind: str
    """`floor`, `ours` or `peer`."""
    made: str
    """What is built or installed for it: of ours, the name of the runtime."""
    command: tuple[str, ...]
    stdio: tuple[str, ...] = ("--stdio",)
    """The flags of that transport."""
    http: tuple[str, ...] = ("--port", "0")
    tools: int = 2
    """How many it has without being asked for more."""
    warm: float = 0.03
    """Seconds of CPU time after which it is as fast as it gets, at least."""
    lacks: dict[str, str] = field(default_factory=dict)
    """Why something is not measured: by the name of a transport, an era or a case, or of all three,
    `transport/era/case`."""

    @property
    def native(self) -> bool:
        """Whether its instructions can be counted in bearable time."""
        return self.made not in ("typescript", "python")

    def start(self, transport: str, needs: str | None, tools: int = TOOLS) -> list[str]:
        command = [*self.command, *(self.stdio if transport == "stdio" else self.http)]
        if needs == "tools":
            command += ["--tools", str(tools - self.tools)]
        if needs == "listen" and self.kind == "ours":
            command += ["--listen"]
        return command

    def why_not(self, case: str, transport: str, era: str) -> str | None:
        keys = (transport, era, case, f"{transport}/{era}/{case}")
        return next((self.lacks[key] for key in keys if key in self.lacks), None)


def ours(name: str, title: str, runtime: str, *flags: str) -> Server:
    command = (str(BIN / f"{runtime}_fixture_server"), *flags)
    return Server(name, title, "ours", runtime, command, tools=8)


def rmcp(name: str, title: str, **rest) -> Server:
    return Server(name, title, "peer", "bench-rmcp", (str(BIN / "bench-rmcp"),), **rest)


NODE = PEERS / f"typescript/node_modules/node-linux-{'arm64' if machine() == 'aarch64' else 'x64'}/bin/node"
PYTHON = PEERS / "python/.venv/bin/python"

ALL = [
    Server("floor", "floor", "floor", "floor", (str(BIN / "floor"),)),
    ours("tokio", "ours, tokio, one thread", "tokio"),
    ours("tokio-threads", "ours, tokio, two threads", "tokio", "--threads", "2"),
    ours("smol", "ours, smol", "smol"),
    ours("blocking", "ours, blocking", "blocking"),
    rmcp("rmcp", "rmcp"),
    rmcp("rmcp-pipes", "rmcp, `stdio_pipes()`", stdio=("--pipes",), lacks={"http": "a variant of stdio"}),
    rmcp("rmcp-json", "rmcp, JSON, no sessions", http=("--port", "0", "--json"), lacks={"stdio": "a variant of HTTP"}),
    Server(
        "rust-mcp-sdk",
        "rust-mcp-sdk",
        "peer",
        "bench-rust-mcp-sdk",
        (str(BIN / "bench-rust-mcp-sdk"),),
        lacks={"legacy": "speaks 2026-07-28 only"},
    ),
    Server("typescript", "TypeScript SDK", "peer", "typescript", (str(NODE), str(PEERS / "typescript/server.mjs")), warm=1),
    Server("python", "Python SDK", "peer", "python", (str(PYTHON), str(PEERS / "python/server.py")), warm=0.2),
]
TOKIO = next(server for server in ALL if server.name == "tokio")
NAMES = [server.name for server in ALL]
