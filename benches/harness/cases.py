"""What is measured."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    arguments: tuple[str, ...]
    """Of `load`."""
    crowd: bool = False
    """Many requests at once: client and server get a CPU each, so that what is counted is the server's rate. Else
    they share one, so that neither waits for another CPU to wake up."""
    needs: str | None = None
    """What a server must have besides, `tools` or `listen`: things that cost something when nobody uses them."""
    transports: tuple[str, ...] = ("stdio", "http")


def echo(name: str, title: str, size: int, flight: int) -> Case:
    return Case(name, title, ("--case", "echo", "--size", str(size), "--flight", str(flight)), crowd=flight > 1)


ALL = [
    echo("echo", "`tools/call`, 100 B", 100, 1),
    echo("echo-64", "`tools/call`, 100 B, 64 in flight", 100, 64),
    echo("big", "`tools/call`, 100 KB", 100_000, 1),
    echo("big-64", "`tools/call`, 100 KB, 64 in flight", 100_000, 64),
    Case("list", "`tools/list`, 100 tools", ("--case", "list"), needs="tools"),
    Case("burst", "a call with 100 progress notifications", ("--case", "burst")),
    Case("start", "start to first answer", ("--case", "start")),
    Case("idle", "1,000 idle streams", ("--case", "idle"), needs="listen", transports=("http",)),
]
NAMES = [case.name for case in ALL]
