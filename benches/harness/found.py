"""All that a run has found."""

import dataclasses
import json
from dataclasses import dataclass, field

from .core import Counted
from .figures import Measured
from .instructions import Whole
from .linear import Series
from .machine import Machine
from .small import Built


@dataclass
class Found:
    machine: Machine
    missing: dict[str, str]
    """Servers that could not be built, and why."""
    servers: Measured = field(default_factory=lambda: Measured([], []))
    core: list[Counted] = field(default_factory=list)
    whole: list[Whole] = field(default_factory=list)
    growth: list[Series] = field(default_factory=list)
    built: list[Built] = field(default_factory=list)

    def dump(self) -> str:
        rows = [
            {"server": name, "transport": place.transport, "era": place.era, "case": place.case.name, "rounds": runs}
            for (name, place), runs in self.servers.rounds.items()
        ]
        found = {
            "machine": dataclasses.asdict(self.machine),
            "servers": rows,
            "core": [dataclasses.asdict(case) for case in self.core],
            "instructions": [dataclasses.asdict(case) for case in self.whole],
            "linear": [dataclasses.asdict(series) | {"exponent": series.exponent, "late": series.late} for series in self.growth],
            "small": [dataclasses.asdict(program) for program in self.built],
        }
        return json.dumps(found, indent=1) + "\n"
