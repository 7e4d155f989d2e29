"""The CPU time of a request as bars, on a logarithmic scale, in one SVG."""

from html import escape
from math import ceil, floor, log10

from .figures import Measured, Place
from .found import Found

COLOURS = {"floor": "#9e9e9e", "ours": "#1b7f4d", "peer": "#c2603a"}
LABEL, WIDTH, BAR, GAP, TOP = 170, 620, 13, 34, 64


def draw(found: Found) -> str:
    measured, machine = found.servers, found.machine
    groups = [(place, bars) for place in measured.places if place.era == "modern" and (bars := of(measured, place))]
    values = [value for _, bars in groups for _, _, value in bars]
    if not values:
        return '<svg xmlns="http://www.w3.org/2000/svg"/>\n'
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    scale = WIDTH / max(high - low, 1)
    body, y = [], TOP
    for place, bars in groups:
        body.append(text(10, y + 14, f"{place.transport}: {place.case.title.replace('`', '')}", "bold"))
        y += 22
        for title, kind, value in bars:
            length = max((log10(value) - low) * scale, 1)
            body.append(text(LABEL - 8, y + BAR - 3, title.replace("`", ""), anchor="end"))
            body.append(f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR - 2}" fill="{COLOURS[kind]}"/>')
            body.append(text(LABEL + length + 5, y + BAR - 3, f"{value:,.0f}" if value >= 100 else f"{value:.3g}"))
            y += BAR
        y += GAP - 22
    lines = []
    for power in range(low, high + 1):
        x = LABEL + (power - low) * scale
        lines.append(f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{y}" stroke="#ddd"/>')
        lines.append(text(x, TOP - 12, f"{10**power:,g}", anchor="middle"))
    title = "CPU of the server, µs a request (2026-07-28; logarithmic; shorter is better)"
    width, height = LABEL + WIDTH + 90, y + 10
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="11">',
            '<rect width="100%" height="100%" fill="white"/>',
            text(10, 20, title, "bold"),
            text(10, 36, f"{machine.date}, {machine.kind}, commit {machine.commit}"),
            *lines,
            *body,
            "</svg>\n",
        ]
    )


def of(measured: Measured, place: Place) -> list[tuple[str, str, float]]:
    if place.case.name in ("start", "idle"):
        return []
    found = [(server, measured.median(server.name, place, "cpu_us")) for server in measured.servers]
    return [(server.title, server.kind, value) for server, value in found if value]


def text(x: float, y: float, content: str, weight: str = "normal", anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-weight="{weight}" text-anchor="{anchor}" fill="#222">{escape(content)}</text>'
    )
