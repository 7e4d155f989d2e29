"""Clients over HTTP that are slow, die, fall silent or mean harm. Of them only so much is asked: that the server refuses
what it must, and lets go of them in time."""

import asyncio
import itertools

from . import messages as mcp
from .good import Session, expect
from .http import PATIENCE, Connection, head

GONE = (ConnectionError, asyncio.IncompleteReadError)
"""How a client finds out that the server has closed the connection."""

ids = itertools.count()


def call(tool, arguments):
    id = f"bad-{next(ids)}"
    body = mcp.encode(mcp.modern(id, "tools/call", {"name": tool, "arguments": arguments}))
    return head("POST", "/mcp", mcp.modern_fields("tools/call", tool), len(body)), body


async def drip(connection, data, limit):
    """A byte a second, until the server has had enough."""
    closed = asyncio.ensure_future(connection.ends())
    for at in range(min(len(data), limit)):
        if closed.done():
            break
        connection.writer.write(data[at : at + 1])
        await asyncio.wait([closed], timeout=1)
    await closed


async def slow_head(tally, port):
    async with await Connection.open(port) as connection:
        await drip(connection, call("echo", {"text": "slow"})[0], PATIENCE)


async def slow_body(tally, port):
    async with await Connection.open(port) as connection:
        start, body = call("echo", {"text": "slow"})
        connection.writer.write(start)
        await drip(connection, body, PATIENCE)


async def slow_reader(tally, port):
    """Reads a byte a second of something long."""
    async with await Connection.open(port) as connection:
        start, body = call("echo", {"text": "s" * 1_000_000})
        connection.writer.transport.pause_reading()
        connection.writer.write(start + body)
        socket = connection.writer.get_extra_info("socket").dup()
        with socket:
            for _ in range(8):
                await asyncio.sleep(1)
                try:
                    socket.recv(1)
                except BlockingIOError:
                    pass
        connection.reset()


async def dies(tally, port):
    """Somewhere in its head or its body; by RST, or in good order."""
    connection = await Connection.open(port)
    data = b"".join(call("echo", {"text": "d" * 50_000}))
    await connection.send(data[: tally.random.choice([tally.random.randrange(400), tally.random.randrange(len(data))])])
    await asyncio.sleep(tally.random.random() * 0.02)
    connection.reset() if tally.random.random() < 0.7 else connection.close()


async def dies_in_a_stream(tally, port):
    """After the head of the response to a call that goes on; of the legacy era it goes on without a client."""
    if tally.random.random() < 0.5:
        connection = await Connection.open(port)
        await connection.send(b"".join(call("steps", {})))
    else:
        session = await Session.open(port)
        connection = await Connection.open(port)
        body = mcp.encode(mcp.legacy_call("bad", tally.random.choice(["steps", "ask"]), {}))
        await connection.send(head("POST", "/mcp", session.fields, len(body)) + body)
    await connection.response()
    connection.reset()


async def dies_before_the_answer(tally, port):
    connection = await Connection.open(port)
    await connection.send(b"".join(call("sleep", {"ms": 300})))
    await asyncio.sleep(tally.random.random() * 0.02)
    connection.reset()


async def says_nothing(tally, port):
    async with await Connection.open(port) as connection:
        await connection.ends()


async def never_ends_its_body(tally, port):
    async with await Connection.open(port) as connection:
        start, body = call("echo", {"text": "half"})
        await connection.send(start + body[:20])
        await connection.ends()


async def never_reads_its_stream(tally, port):
    session = await Session.open(port)
    async with await Connection.open(port) as connection:
        await connection.send(head("GET", "/mcp", [field for field in session.fields if field != mcp.JSON]))
        connection.writer.transport.pause_reading()
        await asyncio.sleep(5)
        connection.reset()


async def abandons_its_session(tally, port):
    await Session.open(port)


async def writes_garbage(tally, port):
    async with await Connection.open(port) as connection:
        await connection.send(tally.random.randbytes(tally.random.randrange(1, 5_000)) + b"\r\n\r\n")
        await connection.ends()


async def refused(port, data, *wanted):
    async with await Connection.open(port) as connection:
        connection.writer.write(data)
        expect(await connection.response() in wanted, True, f"status {connection.status} for {data[:60]!r}")


async def huge_head(tally, port):
    fields = tally.random.choice([[("X", "h" * 200_000)], [(f"X-{n}", "h") for n in range(300)]])
    await refused(port, head("POST", "/mcp", fields, 2), 431)


async def two_lengths(tally, port):
    start = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
    await refused(port, start + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n", 400)


async def too_long(tally, port):
    await refused(port, head("POST", "/mcp", mcp.modern_fields("tools/call", "echo"), 64 << 20), 413)


async def chunks_without_end(tally, port):
    async with await Connection.open(port) as connection:
        fields = [*mcp.modern_fields("tools/call", "echo"), ("Transfer-Encoding", "chunked")]
        connection.writer.write(head("POST", "/mcp", fields))
        answer = asyncio.ensure_future(connection.response())
        try:
            for _ in range(80):
                await connection.send(b"10000\r\n" + b"c" * 0x10000 + b"\r\n")
                if answer.done():
                    break
        except GONE:
            pass
        # The one if its length was too much first, the other if its time was.
        expect(await answer in (413, 408), True, f"status {connection.status} of chunks without end")


async def deep_nesting(tally, port):
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + b"[" * 100_000
    await refused(port, head("POST", "/mcp", mcp.modern_fields("tools/call", "echo"), len(body)) + body, 400)


async def wrong_ids(tally, port):
    id = tally.random.choice([b"null", b"{}", b"[1]", b"true", b"1.5", b'"a","id":"b"', b"99999999999999999999999"])
    body = b'{"jsonrpc":"2.0","id":%s,"method":"tools/list","params":{}}' % id
    async with await Connection.open(port) as connection:
        await connection.request("POST", "/mcp", mcp.modern_fields("tools/list"), body)
        expect(connection.status in (200, 202, 400), True, f"status {connection.status} for id {id!r}")


async def unknown_responses(tally, port):
    session = await Session.open(port)
    async with await Connection.open(port) as connection:
        for id in range(50):
            await connection.request("POST", "/mcp", session.fields, mcp.encode(mcp.response(id, {})))
            await connection.body()
        expect(connection.status < 500, True, f"status {connection.status} for an unknown response")
    await session.delete()


async def cancels_at_once(tally, port):
    """Calls that sleep, each cancelled by a message that hurries after it, several times."""
    session = await Session.open(port)
    async with await Connection.open(port) as calls, await Connection.open(port) as cancels:
        for id in range(10):
            body = mcp.encode(mcp.legacy_call(id, "sleep", {"ms": 20}))
            await calls.send(head("POST", "/mcp", session.fields, len(body)) + body)
            for _ in range(5):
                await session.tell(cancels, mcp.notification("notifications/cancelled", {"requestId": id}))
            await calls.response()
            await calls.body()
    await session.delete()


async def foreign_session(tally, port):
    fields = mcp.session_fields(f"{tally.random.getrandbits(128):032x}")
    body = mcp.encode(mcp.legacy_call(1, "echo", {"text": "x"}))
    await refused(port, head("POST", "/mcp", fields, len(body)) + body, 404)


async def pipelined(tally, port):
    """Is allowed, and answered in order."""
    async with await Connection.open(port) as connection:
        texts = [f"p{next(ids)}" for _ in range(10)]
        await connection.send(b"".join(b"".join(call("echo", {"text": text})) for text in texts))
        for text in texts:
            await connection.response()
            (answer,) = [message async for message in connection.messages()]
            expect(mcp.text(answer), text, "pipelined echo")


SLOW = [slow_head, slow_body, slow_reader]
SILENT = [says_nothing, never_ends_its_body, never_reads_its_stream, abandons_its_session]
DYING = [dies, dies, dies_in_a_stream, dies_before_the_answer]
HOSTILE = [
    writes_garbage, huge_head, two_lengths, too_long, chunks_without_end, deep_nesting, wrong_ids, unknown_responses,
    cancels_at_once, foreign_session, pipelined,
]  # fmt: skip


async def misbehave(tally, port, kinds):
    while tally.running:
        kind = tally.random.choice(kinds)
        try:
            await kind(tally, port)
        except GONE:
            pass
        except Exception as error:
            tally.problem(f"{kind.__name__}: {type(error).__name__}: {error}")
        tally.bad[kind.__name__] += 1
        await asyncio.sleep(tally.random.random() * 0.1)


def clients(port, tally):
    plan = [(SLOW, 6), (SILENT, 8), (DYING, 4), (HOSTILE, 4)]
    return [misbehave(tally, port, kinds) for kinds, many in plan for _ in range(many)]
