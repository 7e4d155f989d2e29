"""How long the least programs take to build, everything included, and how large they are."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .install import Failed
from .servers import PEERS, ROOT

PROGRAMS = [
    ("ours, tokio", ROOT, "small-tokio", {"server": [], "client": ["client"]}),
    ("ours, blocking", ROOT, "small-blocking", {"server": [], "client": ["client"]}),
    ("rmcp", PEERS, "small-rmcp", {"server": ["server"], "client": ["client"]}),
]
KINDS = {"server": "stdio server with one tool", "client": "HTTP client that makes one call"}


@dataclass
class Built:
    title: str
    kind: str
    crates: int
    seconds: float
    """By the clock, with all CPUs."""
    cpu_seconds: float
    size: int
    """Bytes of the stripped program."""


def build() -> list[Built]:
    built = []
    for kind in KINDS:
        for title, workspace, package, features in PROGRAMS:
            print(f"building {title}, {kind}", file=sys.stderr, flush=True)
            try:
                built.append(one(title, workspace, package, kind, features[kind]))
            except Failed as failed:
                print(f"  {failed}", file=sys.stderr, flush=True)
    return built


def one(title: str, workspace: Path, package: str, kind: str, features: list[str]) -> Built:
    call("fetch", "--locked", "--quiet", cwd=workspace)
    program = f"{package}-{kind}"
    chosen = ["-p", package, *(["--features", ",".join(features)] if features else [])]
    with tempfile.TemporaryDirectory() as target:
        began, used = time.monotonic(), spent()
        call("build", "--release", "--locked", "--quiet", *chosen, "--bin", program, "--target-dir", target, cwd=workspace)
        seconds, cpu = time.monotonic() - began, spent() - used
        size = (Path(target) / "release" / program).stat().st_size
    tree = call("tree", "--locked", *chosen, "-e", "normal", "--prefix", "none", "--format", "{p}", cwd=workspace)
    crates = {line.removesuffix(" (*)") for line in tree.splitlines()}
    return Built(title, kind, len(crates), seconds, cpu, size)


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(*words: str, cwd: Path) -> str:
    # Everything anew, and as the user of a package would do it.
    environment = {**os.environ, "CARGO_INCREMENTAL": "0", "CARGO_PROFILE_RELEASE_STRIP": "symbols"}
    done = subprocess.run(["cargo", *words], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failed(f"failed: cargo {' '.join(words)}")
    return done.stdout
