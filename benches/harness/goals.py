"""What this project wants to reach, each as a ratio of figures of one run."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .core import Counted
from .figures import Measured, Place
from .found import Found
from .linear import Series

RMCP = ["rmcp", "rmcp-pipes", "rmcp-json"]


@dataclass(frozen=True)
class Ratio:
    value: float
    whose: str
    """The server's name, or `core`."""
    where: str


@dataclass
class Goal:
    title: str
    bound: float
    at_least: bool = False
    ratios: list[Ratio] = field(default_factory=list)

    def met_by(self, ratio: Ratio) -> bool:
        return ratio.value >= self.bound if self.at_least else ratio.value <= self.bound

    @property
    def met(self) -> bool:
        return all(map(self.met_by, self.ratios))

    @property
    def worst(self) -> Ratio:
        return (min if self.at_least else max)(self.ratios, key=lambda ratio: ratio.value)

    def bound_text(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:.2g}"

    def met_text(self) -> str:
        return "yes" if self.met else f"no: {sum(map(self.met_by, self.ratios))} of {len(self.ratios)}"

    def of(self, whose: str) -> str:
        """Best and worst, and how many are as they should be."""
        ratios = [ratio for ratio in self.ratios if ratio.whose == whose]
        if not ratios:
            return "–"
        values = sorted((ratio.value for ratio in ratios), reverse=self.at_least)
        return f"{values[0]:.2g} – {values[-1]:.2g} ({sum(map(self.met_by, ratios))}/{len(ratios)})"


Other = Callable[[Place], float | None]


def judged(found: Found) -> list[Goal]:
    """Each goal over all of our runtimes, transports and eras, if what it compares was measured."""
    return [goal for goal in [*of_servers(found.servers), *of_core(found.core), *of_growth(found.growth)] if goal.ratios]


def of_core(counted: list[Counted]) -> list[Goal]:
    instructions = Goal("instructions in core, to serde_json's", 1.6)
    allocations = Goal("allocations in core, beside the handler's", 2)
    for case in counted:
        where = f"{case.era}, {case.size:,} B"
        instructions.ratios.append(Ratio(case.ours[0] / case.floor[0], "core", where))
        allocations.ratios.append(Ratio(case.ours[1] - case.handler[1], "core", where))
    return [instructions, allocations]


def of_growth(growth: list[Series]) -> list[Goal]:
    """Of the larger half, as the smaller sizes say more of what every request costs."""
    linear = Goal("exponent of cost, where it may be linear", 1.1)
    constant = Goal("exponent of cost, where it may be constant", 0.1)
    for series in growth:
        goal = linear if series.expected else constant
        goal.ratios.append(Ratio(series.late, series.whose, series.title))
    return [linear, constant]


def of_servers(measured: Measured) -> list[Goal]:
    cpu, rate = "cpu_us", "rate"

    def floor(figure: str) -> Other:
        return lambda place: measured.median("floor", place, figure)

    def rmcp(figure: str, names: list[str], best: Callable = min) -> Other:
        def of(place: Place) -> float | None:
            values = [value for name in names if (value := measured.median(name, place, figure))]
            return best(values) if values else None

        return of

    def calls(*cases: str) -> Callable[[Place], bool]:
        return lambda place: place.case.name in cases

    everything = calls("echo", "echo-16", "echo-64", "big", "big-64", "list", "burst")
    wanted = [
        (Goal("CPU a request, one at a time, to the floor", 1.5), cpu, calls("echo", "list", "burst"), floor(cpu)),
        (Goal("CPU a request, many in flight, to the floor", 2), cpu, calls("echo-16", "echo-64"), floor(cpu)),
        (Goal("CPU a request, 100 KB, to the floor", 1.3), cpu, calls("big", "big-64"), floor(cpu)),
        (Goal("CPU a request, to rmcp's fastest variant", 1 / 3), cpu, everything, rmcp(cpu, RMCP)),
        (Goal("CPU a request, to rmcp's default", 1 / 10), cpu, everything, rmcp(cpu, ["rmcp"])),
        (Goal("requests a second, 64 in flight, to rmcp's", 3, at_least=True), rate, calls("echo-64"), rmcp(rate, RMCP, max)),
        (Goal("99th percentile to rmcp's median", 1), "p99_us", everything, rmcp("p50_us", RMCP)),
        (Goal("memory of an idle stream, to rmcp's", 1 / 4), "stream_bytes", calls("idle"), rmcp("stream_bytes", RMCP)),
    ]
    for goal, figure, counts, other in wanted:
        goal.ratios = list(ratios(measured, figure, counts, other))
    return [goal for goal, *_ in wanted]


def ratios(measured: Measured, figure: str, counts: Callable[[Place], bool], other: Other) -> Iterator[Ratio]:
    for place in filter(counts, measured.places):
        for server in measured.servers:
            ours = measured.median(server.name, place, figure) if server.kind == "ours" else None
            theirs = other(place)
            if ours and theirs:
                yield Ratio(ours / theirs, server.name, str(place))
