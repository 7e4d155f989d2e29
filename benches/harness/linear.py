"""How cost grows: what is counted at several sizes, and the exponent, which is 1 where twice as much costs twice as much
and 0 where it makes no difference. Instructions, so that nothing else has a part in it; memory by itself."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import log

from . import callgrind, core
from .figures import TIMEOUT, Failed, load
from .instructions import process
from .servers import Server

BYTES = (1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000)
STREAMS = (1, 10, 100, 1_000, 10_000)
TOOLS = (10, 100, 1_000, 10_000)
FEW_AND_MANY = 2, 6
"""The difference of two counts is free of what starting costs."""
CHEAP = 50, 450
"""Of what costs little beside what starting costs, which is not the same each time to the last instruction."""


@dataclass
class Series:
    whose: str
    """The server's name, or `core`."""
    title: str
    unit: str
    expected: int
    """The exponent that a linear (1) or constant (0) cost has."""
    points: list[tuple[int, float]]

    @property
    def exponent(self) -> float:
        return slope(self.points)

    @property
    def late(self) -> float:
        """Of the larger sizes, where what every request costs does not count any more."""
        return slope(self.points[min(len(self.points) // 2, len(self.points) - 2) :])


def slope(points: list[tuple[int, float]]) -> float:
    """Of the logarithms, by least squares."""
    points = [(log(size), log(cost)) for size, cost in points if cost > 0]
    if len(points) < 2:
        return float("nan")
    x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def measure(server: Server, quick: bool) -> list[Series]:
    if not callgrind.present("how cost grows"):
        return []
    streams = STREAMS[:-1] if quick else STREAMS
    what = [
        ("core, `tools/call` by its bytes", "instructions", 1, BYTES, in_core),
        ("stdio, `tools/call` by its bytes", "instructions", 1, BYTES, lambda size: call(server, "stdio", size)),
        ("HTTP, `tools/call` by its bytes", "instructions", 1, BYTES, lambda size: call(server, "http", size)),
        ("`tools/list` by tools", "instructions", 1, TOOLS, lambda tools: among(server, "list", tools)),
        ("`tools/call` by tools", "instructions", 0, TOOLS, lambda tools: among(server, "echo", tools, CHEAP)),
        ("start to first answer by tools", "instructions", 1, TOOLS, lambda tools: begun(server, tools)),
        ("opening streams", "instructions", 1, streams, opened(server)),
        ("telling streams of a change", "instructions", 1, streams, lambda count: beside(server, "change", count)),
        ("`tools/call` by idle streams", "instructions", 0, streams, lambda count: beside(server, "echo", count, CHEAP)),
        ("memory of streams", "bytes", 1, streams[2:], lambda count: memory(server, count)),
    ]
    return [series("core" if cost is in_core else server.name, *rest, cost) for *rest, cost in what]


def series(whose: str, title: str, unit: str, expected: int, sizes: tuple[int, ...], cost: Callable[[int], float]) -> Series:
    print(f"counting {title}", file=sys.stderr, flush=True)
    points = []
    for size in sizes:
        try:
            points.append((size, cost(size)))
        except Failed as failure:
            print(f"  {size}: {failure}", file=sys.stderr, flush=True)
    return Series(whose, title, unit, expected, points)


def in_core(size: int) -> float:
    instructions, _ = core.each("ours", "modern", size, FEW_AND_MANY)
    return instructions


def call(server: Server, transport: str, size: int) -> float:
    return each(server.start(transport, None), transport, ["--case", "echo", "--size", str(size)])


def among(server: Server, case: str, tools: int, requests: tuple[int, int] = FEW_AND_MANY) -> float:
    return each(server.start("stdio", "tools", tools), "stdio", ["--case", case, "--tools", str(tools)], requests)


def begun(server: Server, tools: int) -> float:
    return process(server.start("stdio", "tools", tools), "stdio", "modern", ["--case", "echo", "--requests", "1"])


def opened(server: Server) -> Callable[[int], float]:
    def cost(streams: int) -> int:
        flags = ["--case", "idle", "--requests", "0", "--streams", str(streams)]
        return process(server.start("http", "listen"), "http", "modern", flags)

    none = []

    def beyond(streams: int) -> float:
        if not none:
            none.append(cost(0))
        return cost(streams) - none[0]

    return beyond


def beside(server: Server, case: str, streams: int, requests: tuple[int, int] = FEW_AND_MANY) -> float:
    return each(server.start("http", "listen"), "http", ["--case", case, "--streams", str(streams)], requests)


def memory(server: Server, streams: int) -> float:
    flags = ["--case", "idle", "--streams", str(streams)]
    return load("http", "modern", flags, server.start("http", "listen"), TIMEOUT)["stream_bytes"] * streams


def each(command: list[str], transport: str, flags: list[str], requests: tuple[int, int] = FEW_AND_MANY) -> float:
    few, many = (process(command, transport, "modern", [*flags, "--requests", str(count)]) for count in requests)
    return (many - few) / (requests[1] - requests[0])
