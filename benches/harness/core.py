"""Instructions and allocations of one message in the core alone."""

from dataclasses import dataclass

from . import callgrind
from .servers import BIN

CALLS = (100, 300)
"""The difference of two counts is free of what starting costs."""


@dataclass
class Counted:
    era: str
    size: int
    ours: tuple[float, float]
    """Instructions and allocations of a call."""
    handler: tuple[float, float]
    """What of these is the handler's own: reading its arguments, making its result."""
    floor: tuple[float, float]


def count() -> list[Counted]:
    if not callgrind.present("core alone"):
        return []
    return [
        Counted(era, size, *(each(side, era, size) for side in ("ours", "handler", "floor")))
        for era in ("legacy", "modern")
        for size in (100, 10_000, 100_000)
    ]


def each(side: str, era: str, size: int, calls: tuple[int, int] = CALLS) -> tuple[float, float]:
    few, many = (callgrind.program([str(BIN / "core"), side, era, str(size), str(number)]) for number in calls)
    return tuple((more - less) / (calls[1] - calls[0]) for less, more in zip(few, many, strict=True))
