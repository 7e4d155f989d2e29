"""Builds what measures and what is measured, peers at the versions that lock files pin."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from .servers import BENCHES, BIN, LOAD, PEERS, ROOT, Server


class Failed(Exception):
    """The command that did not succeed; what it said went to standard error."""


@cache
def measuring() -> None:
    say("building the load driver and the floor")
    cargo(LOAD, "bench-load")
    for name in ("load", "floor"):
        take(target(LOAD) / name, BIN / name)


@cache
def core() -> None:
    say("building the measurement of core")
    cargo(ROOT, "mcp-benches", "--bin", "core")
    take(target(ROOT) / "core", BIN / "core")


def server(server: Server) -> None:
    if server.kind == "ours":
        ours(server.made)
    elif server.made.startswith("bench-"):
        rust_peer(server.made)
    elif server.made == "typescript":
        node_packages()
    elif server.made == "python":
        python_packages()


@cache
def ours(runtime: str) -> None:
    say(f"building our server on {runtime}")
    server = f"{runtime}_fixture_server"
    cargo(ROOT, f"mcp-{runtime}", "--example", server)
    take(target(ROOT) / "examples" / server, BIN / server)


@cache
def rust_peer(package: str) -> None:
    say(f"building {package}")
    cargo(PEERS, package)
    take(target(PEERS) / package, BIN / package)


@cache
def node_packages() -> None:
    home = PEERS / "typescript"
    if not fresh(home / "node_modules", home / "package-lock.json"):
        say("installing the TypeScript SDK and Node.js 22")
        # No package of the lock file has an install script that it needs.
        call("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", cwd=home)
        stamp(home / "node_modules", home / "package-lock.json")


@cache
def python_packages() -> None:
    home = PEERS / "python"
    if not fresh(home / ".venv", home / "requirements.txt"):
        say("installing the Python SDK")
        call(sys.executable, "-m", "venv", "--clear", str(home / ".venv"), cwd=home)
        pip = [str(home / ".venv/bin/python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        call(*pip, "-r", "requirements.txt", cwd=home)
        stamp(home / ".venv", home / "requirements.txt")


def fresh(installed: Path, lock: Path) -> bool:
    """Whether the lock file is the one that was installed from: the copy of it is written last."""
    marker = installed / ".installed"
    return marker.exists() and marker.read_bytes() == lock.read_bytes()


def stamp(installed: Path, lock: Path) -> None:
    shutil.copyfile(lock, installed / ".installed")


def cargo(workspace: Path, package: str, *what: str) -> None:
    call("cargo", "build", "--release", "--locked", "--quiet", "-p", package, *what, cwd=workspace)


def target(workspace: Path) -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR", workspace / "target")) / "release"


def take(program: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    # Another name first, since a program that runs cannot be written to.
    fresh = place.with_suffix(".new")
    shutil.copy2(program, fresh)
    fresh.rename(place)


def call(*command: str, cwd: Path = BENCHES) -> None:
    try:
        status = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    if status != 0:
        raise Failed(f"failed: {' '.join(Path(word).name for word in command)}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
