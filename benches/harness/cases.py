"""What is measured."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    arguments: tuple[str, ...]
    """Of `load`."""
    apart: bool = False
    """Client and server get a CPU each, so that what is counted is the server's rate. Else they share one, so that
    neither waits for another CPU to wake up."""
    needs: str | None = None
    """What a server must have besides, `tools` or `listen`: things that cost something when nobody uses them."""
    transports: tuple[str, ...] = ("stdio", "http")
    counted: tuple[int, int] | None = None
    """How many requests are made where instructions are counted, few and many: the difference is free of what starting
    costs."""


def echo(name: str, title: str, size: int, flight: int, apart: bool, counted: tuple[int, int] | None) -> Case:
    arguments = ("--case", "echo", "--size", str(size), "--flight", str(flight))
    return Case(name, title, arguments, apart=apart, counted=counted)


ALL = [
    echo("echo", "`tools/call`, 100 B", 100, 1, False, (200, 600)),
    echo("echo-16", "`tools/call`, 100 B, 16 in flight, one CPU", 100, 16, False, None),
    echo("echo-64", "`tools/call`, 100 B, 64 in flight", 100, 64, True, (640, 1_280)),
    echo("big", "`tools/call`, 100 KB", 100_000, 1, False, (10, 30)),
    echo("big-64", "`tools/call`, 100 KB, 64 in flight", 100_000, 64, True, None),
    Case("list", "`tools/list`, 100 tools", ("--case", "list"), needs="tools", counted=(20, 60)),
    Case("burst", "a call with 100 progress notifications", ("--case", "burst"), counted=(10, 30)),
    Case("start", "start to first answer", ("--case", "start")),
    Case("idle", "1,000 idle streams", ("--case", "idle"), needs="listen", transports=("http",)),
]
NAMES = [case.name for case in ALL]
