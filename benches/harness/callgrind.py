"""Counts under valgrind, which what else the machine does has no part in."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from shutil import which

MISSING = "there is no valgrind (on Debian: apt-get install valgrind)"


def present(what: str) -> bool:
    if not which("valgrind"):
        print(f"{what}: not counted, {MISSING}", file=sys.stderr)
        return False
    return True


def count(run: Callable[[list[str]], None]) -> tuple[int, int]:
    """Instructions and allocations of one process, which `run` starts behind the words that it is given."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind"
        run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"])
        return read(out.read_text())


def program(command: list[str]) -> tuple[int, int]:
    def run(before: list[str]) -> None:
        subprocess.run([*before, *command], stdin=subprocess.DEVNULL, capture_output=True, check=True)

    return count(run)


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
