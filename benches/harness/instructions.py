"""Instructions of whole servers of a call, kernel excluded: what else the machine does changes nothing here."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from . import callgrind
from .cases import Case
from .figures import Failed, load
from .servers import Server

TIMEOUT = 300.0


@dataclass
class Whole:
    server: str
    transport: str
    era: str
    case: str
    instructions: float


def count(servers: list[Server], cases: list[Case], eras: Sequence[str]) -> list[Whole]:
    if not callgrind.present("whole servers"):
        return []
    counted = []
    for case in (case for case in cases if case.counted):
        for transport in case.transports:
            for era in eras:
                print(f"counting {transport}, {era}, {case.name}", file=sys.stderr, flush=True)
                for server in servers:
                    if not server.native or server.why_not(case.name, transport, era):
                        continue
                    try:
                        cost = each(server, transport, era, case)
                    except Failed as failure:
                        print(f"  {server.name}: {failure}", file=sys.stderr, flush=True)
                    else:
                        counted.append(Whole(server.name, transport, era, case.name, cost))
    return counted


def each(server: Server, transport: str, era: str, case: Case) -> float:
    command = server.start(transport, case.needs)
    few, many = (process(command, transport, era, [*case.arguments, "--requests", str(requests)]) for requests in case.counted)
    return (many - few) / (case.counted[1] - case.counted[0])


def process(command: list[str], transport: str, era: str, flags: list[str]) -> int:
    """Of a server from start to end, while `load` with these flags speaks to it."""
    instructions, _ = callgrind.count(lambda before: load(transport, era, flags, [*before, *command], TIMEOUT))
    return instructions
