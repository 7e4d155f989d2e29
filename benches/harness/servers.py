"""What is measured, and how it is started."""

from dataclasses import dataclass
from pathlib import Path
from platform import machine

BENCHES = Path(__file__).resolve().parent.parent
ROOT = BENCHES.parent
LOAD = BENCHES / "load"
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
    command: tuple[str, ...]
    stdio: tuple[str, ...] | None = ("--stdio",)
    """The flags of that transport; none if it has it not, or if another variant of the server stands for it."""
    http: tuple[str, ...] | None = ("--port", "0")
    eras: tuple[str, ...] = ("legacy", "modern")
    tools: int = 2
    """How many it has without being asked for more."""
    lacks: tuple[str, ...] = ()
    """Cases that the SDK has not got: NAME, or NAME/TRANSPORT/ERA."""

    def start(self, transport: str, needs: str | None) -> list[str]:
        command = [*self.command, *(self.stdio if transport == "stdio" else self.http)]
        if needs == "tools":
            command += ["--tools", str(TOOLS - self.tools)]
        if needs == "listen" and self.kind == "ours":
            command += ["--listen"]
        return command

    def has(self, case: str, transport: str, era: str) -> bool:
        flags = self.stdio if transport == "stdio" else self.http
        return flags is not None and era in self.eras and not {case, f"{case}/{transport}/{era}"} & set(self.lacks)


def ours(runtime: str) -> Server:
    return Server(runtime, f"ours, {runtime}", "ours", (str(BIN / runtime / "fixture_server"),), tools=8)


PEERS = BENCHES / "peers"
RMCP = (str(BIN / "bench-rmcp"),)
NODE = PEERS / f"typescript/node_modules/node-linux-{'arm64' if machine() == 'aarch64' else 'x64'}/bin/node"
PYTHON = PEERS / "python/.venv/bin/python"

ALL = [
    Server("floor", "floor", "floor", (str(BIN / "floor"),)),
    ours("tokio"),
    ours("smol"),
    ours("blocking"),
    Server("rmcp", "rmcp", "peer", RMCP),
    Server("rmcp-pipes", "rmcp, `stdio_pipes()`", "peer", RMCP, stdio=("--pipes",), http=None),
    Server("rmcp-json", "rmcp, JSON, no sessions", "peer", RMCP, stdio=None, http=("--port", "0", "--json")),
    Server("typescript", "TypeScript SDK", "peer", (str(NODE), str(PEERS / "typescript/server.mjs"))),
    Server("python", "Python SDK", "peer", (str(PYTHON), str(PEERS / "python/server.py"))),
]
NAMES = [server.name for server in ALL]
