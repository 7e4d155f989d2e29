"""What a client is told to do, and the judgement of the events it printed."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .processes import ClientRun, Event, Failure

TEXT = 'grüße, "quotes" \\ and\nlines 🎉'
"""Every character class that an encoder can get wrong."""

LIVE = 0.04
"""Seconds that the first progress precedes the result by: the tools below pause for much longer in between, so that it is
seen also where this program is late to read."""


@dataclass
class Step:
    """Some arguments of the client, and what judges the events that they caused: the last one ends the step."""

    words: list[str]
    judge: Callable[[list[Event]], None]
    proves: str = ""
    """For the line of the check."""
    silent: bool = False
    """Whether the arguments cause no event: they are for all steps."""


def fixture(
    unknown_tool_is_result: bool = False,
    fail_prefix: str = "",
    cancel: bool = True,
    panic: bool = False,
) -> list[Step]:
    """The whole tour of the fixture tools."""
    unknown = tool_error("nothing") if unknown_tool_is_result else error(-32602)
    steps = [
        listing("echo", "add", "sleep", "seen", "steps", "fail"),
        call("echo", {"text": TEXT}, text(TEXT), "calls echo"),
        call("add", {"a": 2, "b": 3}, number(5), "add"),
        call("steps", {}, live_progress("done"), "steps with live progress"),
        call("fail", {"text": "no luck"}, tool_error(fail_prefix + "no luck"), "fail"),
        call("nothing", {}, unknown, "an unknown tool"),
    ]
    if cancel:
        steps += [
            call("seen", {}, text("false")),
            call("sleep", {"ms": 60_000}, cancelled, "cancel", cancel_after=800),
            *poll_seen(),
        ]
    if panic:
        steps += [call("panic", {}, error(-32603), "panic"), call("echo", {"text": "alive"}, text("alive"))]
    return steps


def everything() -> list[Step]:
    """The same tour with the tools of the reference server."""
    operation = "trigger-long-running-operation"
    live = live_progress("Long running operation completed")
    return [
        listing("echo", "get-sum", operation),
        call("echo", {"message": TEXT}, text(f"Echo: {TEXT}"), "calls echo"),
        call("get-sum", {"a": 2, "b": 3}, text("The sum of 2 and 3 is 5."), "get-sum"),
        call("get-tiny-image", {}, content("image"), "an image"),
        call(operation, {"duration": 0.9, "steps": 3}, live, "a long operation with live progress"),
        call("nothing", {}, tool_error("nothing"), "an unknown tool"),
        call(operation, {"duration": 60, "steps": 2}, cancelled, "cancel", cancel_after=800),
        call("echo", {"message": "alive"}, text("Echo: alive")),
    ]


def filesystem(place: Path) -> list[Step]:
    """Files come and go in a folder, and nothing outside of it is read."""
    inside, outside = str(place / "grüße.txt"), str(place.parent / "outside.txt")
    return [
        listing("read_text_file", "write_file", "list_directory"),
        call("write_file", {"path": inside, "content": TEXT}, text(f"Successfully wrote to {inside}"), "writes"),
        call("read_text_file", {"path": inside}, text(TEXT), "reads"),
        call("list_directory", {"path": str(place)}, text("[FILE] grüße.txt"), "lists a folder"),
        call("read_text_file", {"path": outside}, tool_error("Access denied"), "is refused"),
    ]


def booking() -> list[Step]:
    """A tool asks which seat, and then whether to book it."""
    filled_in = json.dumps({"place": "window", "bags": 1, "really": True})
    answers = Step(["--answers", filled_in], lambda _: None, silent=True)
    booked = asked("Which seat?", "Book seat 12A to Lisbon?", text="Booked seat 12A to Lisbon.")
    book = call("book", {"destination": "Lisbon"}, booked, "books a seat, asked twice")
    return [answers, book]


def echo_only() -> list[Step]:
    return [call("echo", {"text": TEXT}, text(TEXT), "calls echo")]


def summary(steps: list[Step]) -> str:
    return ", ".join(step.proves for step in steps if step.proves)


def words(steps: list[Step]) -> list[str]:
    return [word for step in steps for word in step.words]


def judge(run: ClientRun, steps: list[Step], era: str, revision: str) -> None:
    if not run.events:
        raise Failure(f"the client printed nothing and ended with status {run.status}")
    opening, *events = run.events
    wanted = {"event": "connected", "era": era, "revision": revision}
    if not wanted.items() <= opening.fields.items():
        raise Failure(f"expected {wanted}, got {opening.fields}")
    for step in (step for step in steps if not step.silent):
        caused: list[Event] = []
        while not caused or caused[-1].fields.get("event") not in ("result", "error"):
            if not events:
                raise Failure(f"{' '.join(step.words)}: no answer, only {[event.fields for event in caused]}")
            caused.append(events.pop(0))
        try:
            step.judge([event for event in caused if event.fields.get("event") != "log"])
        except Failure as failure:
            raise Failure(f"{' '.join(step.words)}: {failure}") from None
    expect([event.fields.get("event") for event in events], ["closed"])
    failed = any(event.fields.get("event") == "error" for event in run.events)
    expect(("exit status", run.status), ("exit status", 1 if failed else 0))


def call(
    name: str,
    arguments: dict,
    judge: Callable[[list[Event]], None],
    proves: str = "",
    cancel_after: int | None = None,
) -> Step:
    options = [] if cancel_after is None else ["--cancel-after", str(cancel_after)]
    return Step([*options, "--call", name, json.dumps(arguments, ensure_ascii=False)], judge, proves)


def listing(*names: str) -> Step:
    def check(events: list[Event]) -> None:
        answer = only(events)
        missing = [name for name in names if name not in answer.get("tools", [])]
        if missing:
            raise Failure(f"expected the tools {missing} too, got {answer}")

    return Step(["--list", "tools"], check, "lists")


def poll_seen() -> list[Step]:
    """Asks until the server has noticed the cancellation, which it may do after the next request has come."""
    answers: list[object] = []

    def gather(events: list[Event]) -> None:
        answers.append(first_text(only(events)))

    def conclude(events: list[Event]) -> None:
        gather(events)
        if "true" not in answers:
            raise Failure(f"the server never saw the cancellation, it answered {answers}")

    def settle(events: list[Event]) -> None:
        expect(first_text(only(events)), "slept")

    round_ = [call("seen", {}, gather), call("sleep", {"ms": 30}, settle)]
    return [*(round_ * 10), call("seen", {}, conclude)]


def text(expected: str) -> Callable[[list[Event]], None]:
    def check(events: list[Event]) -> None:
        answer = only(events)
        if is_error(answer) or first_text(answer) != expected:
            raise Failure(f"expected the text {expected!r}, got {answer}")

    return check


def number(expected: float) -> Callable[[list[Event]], None]:
    def check(events: list[Event]) -> None:
        answer = only(events)
        try:
            expect(float(first_text(answer) or ""), expected)
        except ValueError:
            raise Failure(f"expected {expected}, got {answer}") from None

    return check


def content(kind: str) -> Callable[[list[Event]], None]:
    def check(events: list[Event]) -> None:
        answer = only(events)
        if kind not in [block.get("type") for block in blocks(answer)]:
            raise Failure(f"expected a content block {kind!r}, got {answer}")

    return check


def tool_error(expected: str) -> Callable[[list[Event]], None]:
    def check(events: list[Event]) -> None:
        answer = only(events)
        if not is_error(answer) or expected not in (first_text(answer) or ""):
            raise Failure(f"expected a tool error with {expected!r}, got {answer}")

    return check


def error(code: int) -> Callable[[list[Event]], None]:
    def check(events: list[Event]) -> None:
        answer = only(events)
        if answer.get("event") != "error" or answer.get("code") != code:
            raise Failure(f"expected the error {code}, got {answer}")

    return check


def cancelled(events: list[Event]) -> None:
    # What the call ends with is the client's own matter.
    if events[-1].fields.get("event") != "error":
        raise Failure(f"expected the call to be cancelled, got {events[-1].fields}")


def live_progress(expected: str) -> Callable[[list[Event]], None]:
    def check(events: list[Event]) -> None:
        *progress, result = events
        expect([event.fields.get("progress") for event in progress], [1, 2, 3])
        if expected not in (first_text(result.fields) or ""):
            raise Failure(f"expected the text {expected!r}, got {result.fields}")
        ahead = result.at - progress[0].at
        if ahead < LIVE:
            raise Failure(f"the progress came with the result, {ahead * 1000:.0f} ms before it")

    return check


def asked(*questions: str, text: str) -> Callable[[list[Event]], None]:
    def check(events: list[Event]) -> None:
        *before, result = events
        # The TypeScript client reports the rounds as progress of its own.
        messages = [event.fields.get("message") for event in before if event.fields.get("event") == "asked"]
        expect(messages, list(questions))
        expect(first_text(result.fields), text)

    return check


def only(events: list[Event]) -> dict:
    if len(events) != 1:
        raise Failure(f"expected one event, got {[event.fields for event in events]}")
    return events[0].fields


def blocks(answer: dict) -> list[dict]:
    return answer.get("result", {}).get("content", [])


def first_text(answer: dict) -> str | None:
    return next((block.get("text") for block in blocks(answer)), None)


def is_error(answer: dict) -> bool:
    return answer.get("result", {}).get("isError", False)


def expect(actual: object, expected: object) -> None:
    if actual != expected:
        raise Failure(f"expected {expected}, got {actual}")
