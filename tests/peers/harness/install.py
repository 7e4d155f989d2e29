"""Puts the peers, at the versions the lock files pin, and our own binaries where the cases find them."""

import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent
ROOT = PEERS.parent.parent
PYTHON = PEERS / ".venv/bin/python"
PYTHON_2024 = PEERS / ".venv-2024/bin/python"
EVERYTHING = PEERS / "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
FILESYSTEM = PEERS / "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
RMCP = PEERS / "rmcp/target/debug"

RUNTIMES = ["tokio", "smol", "blocking"]
BINARIES = ["fixture_client", "fixture_server"]
ASKING = ["tokio", "blocking"]
"""The runtimes that have an example which asks its user."""


def peer(name: str) -> None:
    if name == "python-2024-server":
        python_packages(PYTHON_2024, "requirements-2024.txt")
    elif name.startswith(("python", "fastmcp")):
        python_packages(PYTHON, "requirements.txt")
    elif name.startswith("rmcp"):
        rmcp_programs()
    else:
        node_packages()


def ours(runtimes: list[str]) -> None:
    """Builds the examples of the adapters that are spoken to, all at once, and copies them away."""
    say(f"building the fixtures on {', '.join(runtimes)}")
    binaries = {
        runtime: [f"{runtime}_{name}" for name in BINARIES + ["elicit"] * (runtime in ASKING)] for runtime in runtimes
    }
    packages = [word for runtime in runtimes for word in ("-p", f"mcp-{runtime}")]
    examples = [word for names in binaries.values() for name in names for word in ("--example", name)]
    call("cargo", "build", "--release", "--locked", *packages, *examples, cwd=ROOT)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    for runtime, names in binaries.items():
        (PEERS / "bin" / runtime).mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy2(target / "release/examples" / name, PEERS / "bin" / runtime / name)


@cache
def node_packages() -> None:
    installed = PEERS / "node_modules"
    if not fresh(installed, "package-lock.json"):
        say("installing the npm packages")
        # No package of the lock file has an install script that it needs.
        call("npm", "ci", "--fetch-retries=5", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", cwd=PEERS)
        stamp(installed, "package-lock.json")


@cache
def python_packages(python: Path, lock: str) -> None:
    installed = python.parent.parent
    if not fresh(installed, lock):
        say(f"installing the Python packages of {lock}")
        call(sys.executable, "-m", "venv", "--clear", str(installed), cwd=PEERS)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--retries", "10", "install", "--quiet", "--no-deps"]
        call(*pip, "-r", lock, cwd=PEERS)
        stamp(installed, lock)


@cache
def rmcp_programs() -> None:
    say("building the rmcp programs")
    target = ["--target-dir", str(RMCP.parent)]
    call("cargo", "build", "--locked", "--quiet", *target, cwd=PEERS / "rmcp")


def fresh(installed: Path, lock: str) -> bool:
    marker = installed / ".installed"
    return marker.exists() and marker.read_text() == digest(lock)


def stamp(installed: Path, lock: str) -> None:
    (installed / ".installed").write_text(digest(lock))


def digest(lock: str) -> str:
    return hashlib.sha256((PEERS / lock).read_bytes()).hexdigest()


def call(*command: str, cwd: Path) -> None:
    if subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode != 0:
        sys.exit(f"failed: {' '.join(command)}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
