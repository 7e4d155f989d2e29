"""Runs `load` for each server, transport, era and case, and keeps what it printed."""

import json
import os
import signal
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from .cases import Case
from .servers import BIN, Server

TIMEOUT = 60.0
"""Seconds that one measurement may take besides what it is told to measure."""

SLOW_ROUNDS = 3
"""With `--quick`, of servers that take a second or so before they can be measured."""


@dataclass(frozen=True)
class Place:
    """A column of the tables."""

    transport: str
    era: str
    case: Case

    def __str__(self) -> str:
        return f"{self.transport}, {self.era}, {self.case.name}"


@dataclass
class Measured:
    servers: list[Server]
    places: list[Place]
    rounds: dict[tuple[str, Place], list[dict]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)
    missing: dict[tuple[str, Place], str] = field(default_factory=dict)
    """Why there are no figures."""

    def median(self, server: str, place: Place, figure: str) -> float | None:
        values = self.values(server, place, figure)
        return statistics.median(values) if values else None

    def spread(self, server: str, place: Place, figure: str) -> float | None:
        """Half of the range of the rounds, as a part of their median."""
        values = self.values(server, place, figure)
        middle = statistics.median(values) if values else 0
        return (max(values) - min(values)) / 2 / middle if middle else None

    def values(self, server: str, place: Place, figure: str) -> list[float]:
        return [run[figure] for run in self.rounds.get((server, place), []) if run.get(figure) is not None]


def measure(servers: list[Server], cases: list[Case], rounds: int, seconds: float, quick: bool) -> Measured:
    places = [
        Place(transport, era, case)
        for transport in ("stdio", "http")
        for era in ("legacy", "modern")
        for case in cases
        # What the eras differ in shows in the plainest call.
        if transport in case.transports and (not quick or era == "modern" or case.name == "echo")
    ]
    measured = Measured(servers, places)
    for place in places:
        print(f"measuring {place}", file=sys.stderr, flush=True)
        able = []
        for server in servers:
            if why := server.why_not(place.case.name, place.transport, place.era):
                measured.missing[server.name, place] = why
            else:
                able.append(server)
        # A round is one measurement of each server, so what else the machine does meets them all.
        for turn in range(rounds):
            for server in able.copy():
                if quick and turn >= SLOW_ROUNDS and not server.native:
                    continue
                try:
                    measured.rounds[server.name, place].append(run(server, place, seconds))
                except Failed as failure:
                    able.remove(server)
                    measured.missing[server.name, place] = "failed, see below"
                    measured.failures.append(f"{server.name}: {place}: {failure}")
                    print(f"  {measured.failures[-1]}", file=sys.stderr, flush=True)
    return measured


class Failed(Exception):
    """What `load` said, or that it said nothing."""


def run(server: Server, place: Place, seconds: float) -> dict:
    flags = [*place.case.arguments, "--seconds", str(seconds), "--warm", str(max(server.warm, seconds / 3))]
    if cpus := pins(place.case.apart):
        flags += ["--cpus", cpus]
    return load(place.transport, place.era, flags, server.start(place.transport, place.case.needs), TIMEOUT + 2 * seconds + server.warm)


def load(transport: str, era: str, flags: Sequence[str], command: Sequence[str], timeout: float) -> dict:
    words = [str(BIN / "load"), "--transport", transport, "--era", era, *flags, "--", *command]
    # A group of its own, so that a server which does not end does not stay.
    child = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, said = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise Failed("it took too long") from None
    if child.returncode != 0:
        raise Failed(said.strip().splitlines()[-1] if said.strip() else f"status {child.returncode}")
    return json.loads(out)


def pins(apart: bool) -> str | None:
    """CPUs of the client and of the server, where the system lets us choose."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    cpus = sorted(os.sched_getaffinity(0))
    return f"{cpus[0]}:{cpus[-1]}" if apart else f"{cpus[-1]}:{cpus[-1]}"
