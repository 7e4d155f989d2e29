"""Child processes: a server that announces its address, and a client whose lines are timed."""

import json
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

START = 90.0
"""Seconds a server may take until it listens."""

RUN = 180.0
"""Seconds a client may take for its whole script."""


class Failure(Exception):
    """What was expected and what came instead, for the line of the check."""


@dataclass
class Event:
    """One line of a client's output and when it came."""

    at: float
    fields: dict


@dataclass
class ClientRun:
    events: list[Event] = field(default_factory=list)
    status: int | None = None
    stderr: str = ""


def run_client(command: list[str], cwd: Path) -> ClientRun:
    run = ClientRun()
    with tempfile.TemporaryFile() as stderr:
        process = start(command, cwd, stdout=subprocess.PIPE, stderr=stderr)
        # Killing at the deadline ends the loop below, whatever the client is stuck in.
        deadline = threading.Timer(RUN, kill, [process])
        deadline.start()
        try:
            for line in process.stdout:
                run.events.append(Event(time.monotonic(), parse(line)))
            run.status = process.wait()
        finally:
            deadline.cancel()
            kill(process)
        stderr.seek(0)
        run.stderr = stderr.read().decode(errors="replace")
    if run.status == -signal.SIGKILL:
        raise Failure(f"the client took more than {RUN:.0f} s; its last event: {last(run)}")
    return run


class Server:
    """A server on a port of 127.0.0.1, from the line that says so until the end of the `with` block."""

    def __init__(self, command: list[str], cwd: Path, announcement: str, env: dict[str, str] | None = None):
        self.command, self.cwd, self.announcement, self.env = command, cwd, announcement, env

    def __enter__(self) -> str:
        self.process = start(self.command, self.cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self.env)
        return self.await_announcement()

    def __exit__(self, kind: object, *_: object) -> None:
        status = self.process.poll()
        kill(self.process)
        if status is not None and kind is None:
            raise Failure(f"the server ended by itself with status {status}")

    def await_announcement(self) -> str:
        """Returns the rest of the line that begins with the announcement."""
        seen, output = b"", self.process.stdout
        deadline = time.monotonic() + START
        while select.select([output], [], [], max(0.0, deadline - time.monotonic()))[0]:
            chunk = os.read(output.fileno(), 65536)
            seen += chunk
            for line in seen.decode(errors="replace").splitlines(keepends=True):
                if self.announcement in line and line.endswith("\n"):
                    threading.Thread(target=drain, args=[output], daemon=True).start()
                    return line.split(self.announcement, 1)[1].strip()
            if not chunk:
                break
        kill(self.process)
        raise Failure(f"the server did not say {self.announcement!r}; it said {seen.decode(errors='replace')!r}")


def start(command: list[str], cwd: Path, **options: object) -> subprocess.Popen:
    try:
        # A session of its own, so that what it spawns can be ended with it.
        return subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, start_new_session=True, **options)
    except OSError as error:
        raise Failure(f"cannot start {command[0]}: {error.strerror}") from None


def kill(process: subprocess.Popen) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def drain(pipe: object) -> None:
    for _ in pipe:
        pass


def parse(line: bytes) -> dict:
    try:
        fields = json.loads(line)
    except ValueError:
        fields = None
    return fields if isinstance(fields, dict) else {"event": "not JSON", "line": line.decode(errors="replace")}


def last(run: ClientRun) -> object:
    return run.events[-1].fields if run.events else None
