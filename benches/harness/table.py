"""The figures as Markdown: what the goals are compared with first, then everything."""

from .cases import Case
from .core import Counted
from .figures import Measured, Place
from .goals import judged
from .machine import Machine

FIGURES = [
    ("cpu_us", "CPU of the server, µs a request", {"idle": "µs to open a stream", "start": "µs a start"}),
    ("rate", "Requests a second", {}),
    ("p50_us", "Median latency, µs", {}),
    ("p99_us", "99th percentile of latency, µs", {}),
    ("stream_bytes", "Memory of an idle stream, bytes", {}),
    ("peak_kib", "Peak memory, KiB", {}),
]


def write(measured: Measured, counted: list[Counted], machine: Machine) -> str:
    parts = [
        f"# Measured on {machine.date}",
        f"{machine.kind}, {machine.system}, at commit {machine.commit}. Medians of {machine.rounds} rounds of "
        f"{machine.seconds:g} s in alternation; ± is half of their range. In brackets: so many times the floor's.",
        "Versions: " + "; ".join(f"{server.title} {machine.versions[server.name]}" for server in measured.servers) + ".",
        "## Goals",
        goals(measured),
    ]
    for figure, title, _ in FIGURES:
        rows = figure_rows(measured, figure)
        if rows:
            parts += [f"## {title}", markdown(["", *[server.title for server in measured.servers]], rows)]
    if counted:
        parts += ["## Core alone, a `tools/call`, to serde_json reading and writing the same typed messages", core(counted)]
    if measured.failures:
        parts += ["## Failed", "\n".join(f"- {failure}" for failure in measured.failures)]
    return "\n\n".join(parts) + "\n"


def goals(measured: Measured) -> str:
    rows = [
        [goal.title, goal.bound_text(), goal.range_text(), f"{goal.met} of {goal.of}", goal.worst]
        for goal in judged(measured)
    ]
    return markdown(["goal", "bound", "measured", "met", "furthest off"], rows)


def core(counted: list[Counted]) -> str:
    rows = [
        [f"{case.era}, {case.size:,} B", number(case.ours[0]), number(case.floor[0]), ratio(case.ours[0] / case.floor[0])]
        + [f"{case.ours[1]:.3g}", f"{case.floor[1]:.3g}"]
        for case in counted
    ]
    return markdown(["", "instructions", "floor's", "ratio", "allocations", "floor's"], rows)


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
    return f"{place.transport}, {place.era}: {title(place.case)}" + (f" ({unit})" if unit else "")


def title(case: Case) -> str:
    return case.title


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
