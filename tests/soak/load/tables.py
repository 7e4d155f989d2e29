"""Whether the tables of a server are empty: as much must go into them as their bounds allow, and no more."""

import asyncio

from . import messages as mcp
from .good import Session, expect, fresh
from .http import Connection, Unexpected

SESSIONS = 256
STREAMS = 64
"""As in `tests/src/soak.rs`."""


async def refuses(port, what, fields, body):
    async with await Connection.open(port) as connection:
        expect(await connection.request("POST", "/mcp", fields, mcp.encode(body)), 503, f"status of one {what} too many")


async def check(port):
    sessions = []
    while len(sessions) < SESSIONS:
        # Side by side, or the first ones would be idle for too long.
        opening = await asyncio.gather(*[Session.open(port) for _ in range(16)], return_exceptions=True)
        for session in opening:
            if isinstance(session, Exception):
                left = SESSIONS - len(sessions)
                raise Unexpected(f"about {left} sessions of clients that are gone are still there ({session})")
            sessions.append(session)
    await refuses(port, "session", [mcp.ACCEPT, mcp.JSON], mcp.initialize(fresh()))
    await fill_streams(port, sessions)
    for session in sessions:
        await session.delete()


async def fill_streams(port, sessions):
    streams = []

    async def open_stream(number):
        stream = await Connection.open(port)
        streams.append(stream)
        if number % 2:
            fields = [field for field in sessions[number].fields if field != mcp.JSON]
            return await stream.request("GET", "/mcp", fields)
        return await stream.request("POST", "/mcp", mcp.modern_fields("subscriptions/listen"), mcp.encode(listen()))

    for number in range(STREAMS):
        status = await open_stream(number)
        expect(status, 200, f"status of stream {number}: others of clients that are gone are still there")
    await refuses(port, "stream", mcp.modern_fields("subscriptions/listen"), listen())
    for stream in streams:
        stream.close()
    await asyncio.sleep(0)


def listen():
    return mcp.modern(fresh(), "subscriptions/listen", {"notifications": {"resourceSubscriptions": [mcp.WATCHED]}})
