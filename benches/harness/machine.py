"""When and where it was, and which versions."""

import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from . import versions
from .servers import ROOT, Server


@dataclass
class Machine:
    date: str
    kind: str
    system: str
    commit: str
    busy: float
    """The load average of a minute when it began: what else there was to do."""
    rounds: int
    seconds: float
    command: str
    versions: dict[str, str]


def describe(servers: list[Server], rounds: int, seconds: float, command: str) -> Machine:
    return Machine(
        date=datetime.now(UTC).date().isoformat(),
        kind=f"{model()}, {os.cpu_count()} cores",
        system=f"{platform.system()} {platform.release().split('-')[0]}",
        commit=said("git", "-C", str(ROOT), "describe", "--always", "--dirty"),
        busy=os.getloadavg()[0],
        rounds=rounds,
        seconds=seconds,
        command=command,
        versions=versions.of(servers),
    )


def model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def said(*command: str) -> str:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout.strip()
