"""Instructions and allocations of one message in the core alone, counted by valgrind."""

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from shutil import which

from .servers import BIN

CALLS = (100, 300)
"""The difference of two counts is free of what starting costs."""


@dataclass
class Counted:
    era: str
    size: int
    ours: tuple[float, float]
    """Instructions and allocations of a call."""
    floor: tuple[float, float]


def count() -> list[Counted]:
    if not which("valgrind"):
        print("core alone: not measured, there is no valgrind", file=sys.stderr)
        return []
    return [
        Counted(era, size, each("ours", era, size), each("floor", era, size))
        for era in ("legacy", "modern")
        for size in (100, 10_000, 100_000)
    ]


def each(side: str, era: str, size: int) -> tuple[float, float]:
    few, many = (run(side, era, size, calls) for calls in CALLS)
    calls = CALLS[1] - CALLS[0]
    return (many[0] - few[0]) / calls, (many[1] - few[1]) / calls


def run(side: str, era: str, size: int, calls: int) -> tuple[int, int]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", str(BIN / "core"), side, era, str(size), str(calls)]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        return read(out.read_text())


def read(text: str) -> tuple[int, int]:
    """All instructions, and the calls of what gets memory."""
    names, called, allocations, instructions = {}, None, 0, 0
    for line in text.splitlines():
        if found := re.match(r"c?fn=\((\d+)\)(?: (.*))?$", line):
            number, name = found.groups()
            if name:
                names[number] = name
            called = number if line.startswith("c") else called
        elif line.startswith("calls=") and names.get(called) in ("malloc", "calloc", "realloc"):
            allocations += int(line[6:].split()[0])
        elif line.startswith(("summary:", "totals:")):
            instructions = int(line.split()[1])
    return instructions, allocations
