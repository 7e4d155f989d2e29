"""Which client talks to which server, how, and in which era."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

from . import script
from .install import ASKING, EVERYTHING, FILESYSTEM, PEERS as HERE, PYTHON, PYTHON_2024, RMCP
from .processes import Failure, Server, run_client

REVISIONS = {"modern": "2026-07-28", "legacy": "2025-11-25"}
TRANSPORTS = ["stdio", "http"]



@dataclass
class Outcome:
    ok: bool
    name: str
    detail: str

    def line(self) -> str:
        return f"{'ok  ' if self.ok else 'FAIL'} {self.name}: {self.detail}"


@dataclass
class Case:
    name: str
    client: list[str]
    ask: str
    """The era that the client is told to speak."""
    era: str
    """The era that it has to end up in."""
    steps: list[script.Step]
    stdio: list[str] = field(default_factory=list)
    """The command of the server, over stdio."""
    http: Callable[[], AbstractContextManager[str]] | None = None
    """Starts the server and gives its URL, over HTTP."""
    connect: str = "--connect"
    """How the client is told that URL."""
    revision: str | None = None
    """The revision that it has to end up with, if it is not the newest of the era."""

    def run(self) -> Outcome:
        try:
            self.check()
        except Failure as failure:
            return Outcome(False, self.name, str(failure))
        return Outcome(True, self.name, script.summary(self.steps))

    def check(self) -> None:
        with self.http() if self.http else nullcontext("") as url:
            place = [self.connect, url] if url else ["--spawn", *self.stdio]
            run = run_client([*self.client, "--era", self.ask, *script.words(self.steps), *place], HERE)
            try:
                script.judge(run, self.steps, self.era, self.revision or REVISIONS[self.era])
            except Failure as failure:
                raise Failure(f"{failure}{indented(run.stderr)}") from None


def of(peer: str, runtime: str) -> Iterator[Case]:
    return PEERS[peer](peer, runtime)


def foreign_client(client: list[str], http_sse: bool = True) -> Callable[[str, str], Iterator[Case]]:
    """A peer's client against our servers, also over HTTP with SSE if it knows that."""

    def cases(peer: str, runtime: str) -> Iterator[Case]:
        if runtime in ASKING:
            yield from asked(peer, client, runtime)
        server = ours(runtime, "fixture_server")
        for transport in TRANSPORTS:
            for ask, era, flags in [
                ("auto", "modern", []),
                ("legacy", "legacy", []),
                ("modern", "modern", ["--modern-only"]),
                ("auto", "legacy", ["--legacy-only"]),
            ]:
                name = " ".join([peer, transport, spoken(ask, era), *flags, runtime])
                steps = script.fixture(panic=True)
                yield Case(name, client, ask, era, steps, **reach(transport, [*server, *flags]))
        if http_sse:
            name = f"{peer} http+sse legacy {runtime}"
            old = {"http": lambda: deprecated(server), "connect": "--connect-sse"}
            yield Case(name, client, "legacy", "legacy", script.fixture(panic=True), **old)

    return cases


def asked(peer: str, client: list[str], runtime: str) -> Iterator[Case]:
    """The server whose handler asks the user: one handler for both eras."""
    server = ours(runtime, "elicit")
    for transport in TRANSPORTS:
        for era in REVISIONS:
            name = " ".join([peer, transport, era, "asked by", runtime])
            yield Case(name, client, era, era, script.booking(), **reach(transport, server))


def foreign_server(server: list[str], **quirks: object) -> Callable[[str, str], Iterator[Case]]:
    """Our client against a peer's server that has the fixture tools and both transports."""

    def cases(peer: str, runtime: str) -> Iterator[Case]:
        for transport in TRANSPORTS:
            for ask, era in [("auto", "modern"), ("legacy", "legacy")]:
                steps = script.fixture(**quirks, cancel=can_cancel(peer, transport, era))
                name = " ".join([peer, transport, spoken(ask, era), runtime])
                yield Case(name, ours(runtime, "fixture_client"), ask, era, steps, **reach(transport, server))

    return cases


def typescript_server(peer: str, runtime: str) -> Iterator[Case]:
    """Our client against the TypeScript SDK, which also asks: by results to come back from, or by requests."""
    server = ["node", str(HERE / "typescript/server.mjs")]
    yield from foreign_server(server)(peer, runtime)
    # Without sessions, nothing can be asked over HTTP in the legacy era.
    for transport, era in [("stdio", "modern"), ("stdio", "legacy"), ("http", "modern")]:
        name = " ".join([peer, transport, era, "asks", runtime])
        yield Case(name, ours(runtime, "fixture_client"), era, era, script.booking(), **reach(transport, server))


def can_cancel(peer: str, transport: str, era: str) -> bool:
    # This server keeps no sessions, so the notification cannot find the call.
    return (peer, transport, era) != ("typescript-server", "http", "legacy")


def everything_server(peer: str, runtime: str) -> Iterator[Case]:
    """Our client against the reference server, which knows the handshake only."""
    old = {"http": lambda: reference_server("sse", "running on port", "/sse")}
    for transport, place in [
        ("stdio", {"stdio": ["node", str(EVERYTHING), "stdio"]}),
        ("http", {"http": lambda: reference_server("streamableHttp", "listening on port", "/mcp")}),
        ("http+sse", {**old, "connect": "--connect-sse"}),
        # By its URL alone, as the last thing that is tried.
        ("http, at last http+sse,", old),
    ]:
        name = " ".join([peer, transport, spoken("auto", "legacy"), runtime])
        yield Case(name, ours(runtime, "fixture_client"), "auto", "legacy", script.everything(), **place)


def filesystem_server(peer: str, runtime: str) -> Iterator[Case]:
    """Our client against a server that people have on their desktops."""
    folder = HERE / "bin" / runtime / "files"
    folder.mkdir(parents=True, exist_ok=True)
    server = ["node", str(FILESYSTEM), str(folder)]
    name = " ".join([peer, "stdio", spoken("auto", "legacy"), runtime])
    yield Case(name, ours(runtime, "fixture_client"), "auto", "legacy", script.filesystem(folder), stdio=server)


def rmcp_server(peer: str, runtime: str) -> Iterator[Case]:
    """Our client against the Rust SDK, over stdio."""
    for ask, era in [("auto", "modern"), ("modern", "modern"), ("legacy", "legacy")]:
        name = " ".join([peer, "stdio", spoken(ask, era), runtime])
        server = [str(RMCP / "rmcp-server")]
        yield Case(name, ours(runtime, "fixture_client"), ask, era, script.fixture(), stdio=server)


def python_2024_server(peer: str, runtime: str) -> Iterator[Case]:
    """Our client against an SDK that speaks 2024-11-05 alone. At a probe it stops, and it ends as soon as more follows."""
    server = [str(PYTHON_2024), str(HERE / "python/server_2024.py")]
    steps = script.fixture(unknown_tool_is_result=True, fail_prefix="Error executing tool fail: ", cancel=False)
    old = {"http": lambda: Server([*server, "--port", "0"], HERE, announcement="listening on ")}
    for transport, ask, place in [
        ("stdio", "auto", {"stdio": [*server, "--stdio"]}),
        ("stdio", "legacy", {"stdio": [*server, "--stdio"]}),
        ("http+sse", "auto", {**old, "connect": "--connect-sse"}),
        ("http, at last http+sse,", "auto", old),
    ]:
        name = " ".join([peer, transport, spoken(ask, "legacy"), runtime])
        client = ours(runtime, "fixture_client")
        yield Case(name, client, ask, "legacy", steps, revision="2024-11-05", **place)


def rmcp1_server(peer: str, runtime: str) -> Iterator[Case]:
    """Our client against a server that exits on the probe: it has to be spawned again."""
    for ask in ["auto", "legacy"]:
        name = " ".join([peer, "stdio", spoken(ask, "legacy"), runtime])
        server = [str(RMCP / "rmcp1-server")]
        yield Case(name, ours(runtime, "fixture_client"), ask, "legacy", script.echo_only(), stdio=server)


def ours(runtime: str, example: str) -> list[str]:
    return [str(HERE / "bin" / runtime / f"{runtime}_{example}")]


def reach(transport: str, server: list[str]) -> dict[str, object]:
    """The fixture servers all have the same command line."""
    if transport == "stdio":
        return {"stdio": [*server, "--stdio"]}
    return {"http": lambda: Server([*server, "--port", "0"], HERE, announcement="listening on ")}


@contextmanager
def deprecated(server: list[str]) -> Iterator[str]:
    """Our fixture server, and the URL of its transport of 2024-11-05."""
    with Server([*server, "--port", "0", "--http-sse"], HERE, announcement="listening on ") as url:
        yield url.removesuffix("/mcp") + "/sse"


@contextmanager
def reference_server(transport: str, announcement: str, path: str) -> Iterator[str]:
    # It cannot say which port it was given, so it is told one. Nobody else is given that as long as it is bound here, and
    # whoever does not listen on it may share it.
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        command = ["node", str(EVERYTHING), transport]
        environment = {**os.environ, "PORT": str(port)}
        with Server(command, HERE, announcement=announcement, env=environment):
            yield f"http://127.0.0.1:{port}{path}"


def spoken(ask: str, era: str) -> str:
    return era if ask == era else f"{ask} ({era})"


def indented(stderr: str) -> str:
    """The end of what the client wrote to stderr, under the line of the check."""
    lines = stderr.strip().splitlines()[-8:]
    return "".join(f"\n       | {line}" for line in lines)


PEERS: dict[str, Callable[[str, str], Iterator[Case]]] = {
    "everything": everything_server,
    "typescript-client": foreign_client(["node", "typescript/client.mjs"]),
    "python-client": foreign_client([str(PYTHON), "python/client.py"]),
    "rmcp-client": foreign_client([str(RMCP / "rmcp-client")], http_sse=False),
    "typescript-server": typescript_server,
    "python-server": foreign_server(
        [str(PYTHON), str(HERE / "python/server.py")],
        unknown_tool_is_result=True,
        fail_prefix="Error executing tool fail: ",
    ),
    "fastmcp-server": foreign_server([str(PYTHON), str(HERE / "python/fastmcp_server.py")], unknown_tool_is_result=True),
    "python-2024-server": python_2024_server,
    "filesystem": filesystem_server,
    "rmcp-server": rmcp_server,
    "rmcp1-server": rmcp1_server,
}
