"""The figures as Markdown: what the goals are compared with first, then everything."""

from collections import defaultdict

from .core import Counted
from .figures import Measured, Place
from .found import Found
from .goals import Goal, judged
from .instructions import Whole
from .linear import Series
from .small import KINDS, Built

FIGURES = [
    ("cpu_us", "CPU of the server, µs a request", {"idle": "µs to open a stream", "start": "µs a start"}),
    ("rate", "Requests a second", {}),
    ("p50_us", "Median latency, µs", {}),
    ("p99_us", "99th percentile of latency, µs", {}),
    ("stream_bytes", "Memory of an idle stream, bytes", {}),
    ("peak_kib", "Peak memory, KiB", {}),
]


def write(found: Found) -> str:
    return headline(found) + "\n" + details(found)


def headline(found: Found) -> str:
    """What is worth quoting."""
    machine = found.machine
    parts = [
        f"# Measured on {machine.date}",
        f"`{machine.command}` on {machine.kind}, {machine.system}, at commit {machine.commit}, with a load "
        f"average of {machine.busy:.1f} when it began.",
        "Versions: " + "; ".join(f"{title} {version}" for title, version in machine.versions.items()) + ".",
        f"![CPU of the server a request]({machine.date}.svg)",
    ]
    if rows := multiples(found.servers):
        titles = [server.title for server in found.servers.servers]
        parts += ["## CPU time of the server a request, in multiples of the floor's", markdown(["", *titles], rows)]
    if goals := judged(found):
        parts += ["## Goals", verdict(goals)]
    return "\n\n".join(parts) + "\n"


def details(found: Found) -> str:
    measured, machine, parts = found.servers, found.machine, []
    if measured.servers:
        parts += [
            f"Medians of {machine.rounds} rounds of {machine.seconds:g} s in alternation; ± is half of their range. In "
            "brackets: so many times the floor's. – is explained at the end.",
        ]
    for figure, title, _ in FIGURES:
        if rows := figure_rows(measured, figure):
            parts += [f"## {title}", markdown(["", *[server.title for server in measured.servers]], rows)]
    if found.core:
        parts += ["## Core alone, a `tools/call`, to serde_json reading and writing the same typed messages", core(found.core)]
    if found.whole:
        parts += ["## Whole servers, instructions a request, kernel excluded", whole(found.whole)]
    if found.growth:
        parts += ["## How cost grows, on tokio", growth(found.growth)]
    if found.built:
        parts += ["## The least programs", built(found.built)]
    if lines := [f"- {server}: {why}" for server, why in found.missing.items()] + missing(measured):
        parts += ["## Not measured", "\n".join(lines)]
    if measured.failures:
        parts += ["## Failed", "\n".join(f"- {failure}" for failure in measured.failures)]
    return "\n\n".join(parts) + "\n"


def multiples(measured: Measured) -> list[list[str]]:
    rows = []
    for place in measured.places:
        floor = measured.median("floor", place, "cpu_us")
        values = [measured.median(server.name, place, "cpu_us") for server in measured.servers]
        if floor and any(values):
            cells = [ratio(value / floor) if value else "–" for value in values]
            rows.append([f"{place.transport}, {place.era}: {place.case.title}", *cells])
    return rows


def verdict(goals: list[Goal]) -> str:
    columns = list(dict.fromkeys(ratio.whose for goal in goals for ratio in goal.ratios))
    rows = [
        [goal.title, goal.bound_text(), goal.met_text(), *[goal.of(whose) for whose in columns]]
        + [f"{goal.worst.value:.2g}: {goal.worst.whose}, {goal.worst.where}"]
        for goal in goals
    ]
    return markdown(["goal", "bound", "met", *columns, "furthest off"], rows)


def core(counted: list[Counted]) -> str:
    rows = [
        [f"{case.era}, {case.size:,} B", number(case.ours[0]), number(case.floor[0]), ratio(case.ours[0] / case.floor[0])]
        + [f"{case.ours[1]:.3g}", f"{case.handler[1]:.3g}", f"{case.floor[1]:.3g}"]
        for case in counted
    ]
    heads = ["", "instructions", "floor's", "ratio", "allocations", "of these the handler's", "floor's"]
    return markdown(heads, rows)


def whole(counted: list[Whole]) -> str:
    rows, servers = defaultdict(dict), list(dict.fromkeys(case.server for case in counted))
    for case in counted:
        rows[f"{case.transport}, {case.era}: {case.case}"][case.server] = case.instructions

    def cell(row: dict[str, float], server: str) -> str:
        if server not in row:
            return "–"
        floor = row.get("floor")
        return number(row[server]) + (f" ({ratio(row[server] / floor)})" if floor and server != "floor" else "")

    return markdown(["", *servers], [[head, *[cell(row, server) for server in servers]] for head, row in rows.items()])


def growth(all_series: list[Series]) -> str:
    rows = [
        [series.title, f"{series.points[0][0]:,} – {series.points[-1][0]:,}", f"{series.exponent:.2f}", f"{series.late:.2f}"]
        + [f"{number(series.points[0][1])} – {number(series.points[-1][1])} {series.unit}"]
        for series in all_series
        if series.points
    ]
    return markdown(["", "from – to", "exponent", "of the larger half", "cost"], rows)


def built(programs: list[Built]) -> str:
    rows = [
        [KINDS[program.kind], program.title, f"{program.size / 1024:,.0f} KiB", f"{program.seconds:.1f} s"]
        + [f"{program.cpu_seconds:.1f} s", str(program.crates)]
        for program in programs
    ]
    return markdown(["", "", "stripped", "clean release build", "CPU time of it", "crates"], rows)


def missing(measured: Measured) -> list[str]:
    """One line for each server and reason."""
    places, titles = defaultdict(list), {server.name: server.title for server in measured.servers}
    for (server, place), why in measured.missing.items():
        places[titles[server], why].append(place)
    return [f"- {server}: {why} ({covered(measured, of)})" for (server, why), of in places.items()]


def covered(measured: Measured, places: list[Place]) -> str:
    """Shortly: a transport or an era, if these are all of its places."""
    for part in ("transport", "era"):
        value = getattr(places[0], part)
        if places == [place for place in measured.places if getattr(place, part) == value]:
            return f"all of {value}"
    return "; ".join(str(place) for place in places)


def figure_rows(measured: Measured, figure: str) -> list[list[str]]:
    rows = []
    for place in measured.places:
        cells = [cell(measured, server.name, place, figure) for server in measured.servers]
        if any(cells):
            rows.append([head(place, figure), *[text or "–" for text in cells]])
    return rows


def head(place: Place, figure: str) -> str:
    units = next(exceptions for name, _, exceptions in FIGURES if name == figure)
    unit = units.get(place.case.name)
    return f"{place.transport}, {place.era}: {place.case.title}" + (f" ({unit})" if unit else "")


def cell(measured: Measured, server: str, place: Place, figure: str) -> str:
    value = measured.median(server, place, figure)
    if value is None:
        return ""
    text = f"{number(value)} ±{measured.spread(server, place, figure) or 0:.0%}"
    floor = measured.median("floor", place, figure)
    return text if server == "floor" or not floor else f"{text} ({ratio(value / floor)})"


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def ratio(value: float) -> str:
    return f"×{value:.2g}" if value < 100 else f"×{value:,.0f}"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
