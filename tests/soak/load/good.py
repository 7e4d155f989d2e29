"""Clients over HTTP that do everything right. Each of their calls has to end once, with the answer to it and to nothing else."""

import asyncio
import itertools
import json

from . import messages as mcp
from .http import PATIENCE, Connection, Unexpected

ids = itertools.count()


def fresh():
    return f"good-{next(ids)}"


def only_answer(id, heard):
    """The one response among what was heard."""
    answers = [message for message in heard if mcp.is_response(message)]
    if len(answers) != 1 or answers[0].get("id") != id:
        raise Unexpected(f"one answer to {id} was expected, and these came: {json.dumps(answers)[:300]}")
    if heard[-1] is not answers[0]:
        raise Unexpected(f"something follows the answer to {id}: {json.dumps(heard[-1])[:200]}")
    return answers[0]


def expect(found, wanted, what):
    if found != wanted:
        raise Unexpected(f"{what}: {str(wanted)[:100]!r} was expected, and {str(found)[:200]!r} came")


async def call_modern(connection, tool, arguments, more=None):
    """A call in the modern era; returns the answer and the notifications before it."""
    id = fresh()
    body = mcp.encode(mcp.modern(id, "tools/call", {"name": tool, "arguments": arguments, **(more or {})}))
    status = await connection.request("POST", "/mcp", mcp.modern_fields("tools/call", tool), body)
    heard = [message async for message in connection.messages()]
    expect(status, 200, f"status of {tool}")
    return only_answer(id, heard), heard[:-1]


def numbers(random):
    return random.randrange(1 << 20), random.randrange(1 << 20)


def words(tally):
    """A text that no other call has; some are long."""
    size = tally.random.choice([10, 100, 1_000, 100_000])
    return f"{fresh()} " + "é" * (size // 2)


async def check_progress(heard, answer):
    steps = [message["params"]["progress"] for message in heard if message["method"] == "notifications/progress"]
    expect(steps, [1, 2, 3], "progress")
    expect(mcp.text(answer), "done", "steps")


class Modern:
    """Calls on a connection that is used again and again."""

    def __init__(self, port):
        self.port = port

    async def once(self, tally):
        async with await Connection.open(self.port) as connection:
            for _ in range(tally.random.randrange(1, 60)):
                await self.call(connection, tally)

    async def call(self, connection, tally):
        kind = tally.random.choice(["echo", "echo", "echo", "add", "fail", "list"])
        if kind == "echo":
            text = words(tally)
            answer, _ = await call_modern(connection, "echo", {"text": text})
            expect(mcp.text(answer), text, "echo")
        elif kind == "add":
            a, b = numbers(tally.random)
            answer, _ = await call_modern(connection, "add", {"a": a, "b": b})
            expect(float(mcp.text(answer)), float(a + b), "add")
        elif kind == "fail":
            answer, _ = await call_modern(connection, "fail", {"text": "as asked"})
            expect(answer["result"].get("isError"), True, "fail")
        else:
            id = fresh()
            body = mcp.encode(mcp.modern(id, "tools/list", {}))
            await connection.request("POST", "/mcp", mcp.modern_fields("tools/list"), body)
            answer = only_answer(id, [message async for message in connection.messages()])
            names = [tool["name"] for tool in answer["result"]["tools"]]
            expect("echo" in names, True, "tools/list")
        tally.good[f"modern {kind}"] += 1

    async def progress(self, tally):
        async with await Connection.open(self.port) as connection:
            answer, heard = await call_modern(connection, "steps", {})
            await check_progress(heard, answer)
            tally.good["modern progress"] += 1

    async def ask(self, tally):
        """Is asked by a result, and comes again with the answer."""
        name = fresh()
        async with await Connection.open(self.port) as connection:
            answer, _ = await call_modern(connection, "ask", {})
            result = answer["result"]
            expect(result.get("resultType"), "input_required", "ask")
            answer, _ = await call_modern(connection, "ask", {}, mcp.reply_to(result, name))
            expect(mcp.text(answer), name, "the answer to a question")
            tally.good["modern ask"] += 1


class Session:
    """A legacy session."""

    def __init__(self, port, id):
        self.port, self.fields = port, mcp.session_fields(id)

    @classmethod
    async def open(cls, port):
        async with await Connection.open(port) as connection:
            id = fresh()
            status = await connection.request("POST", "/mcp", [mcp.ACCEPT, mcp.JSON], mcp.encode(mcp.initialize(id)))
            heard = [message async for message in connection.messages()]
            expect(status, 200, "status of initialize")
            expect(only_answer(id, heard)["result"]["protocolVersion"], mcp.LEGACY, "revision")
            session = cls(port, connection.fields["mcp-session-id"])
            await session.tell(connection, mcp.notification("notifications/initialized"))
            return session

    async def tell(self, connection, message):
        expect(await connection.request("POST", "/mcp", self.fields, mcp.encode(message)), 202, "status of a message")
        await connection.body()

    async def call(self, connection, tool, arguments):
        id = fresh()
        body = mcp.encode(mcp.legacy_call(id, tool, arguments))
        expect(await connection.request("POST", "/mcp", self.fields, body), 200, f"status of {tool}")
        heard = []
        async for message in connection.messages():
            heard.append(message)
            if message.get("method") == "elicitation/create":
                async with await Connection.open(self.port) as other:
                    reply = {"action": "accept", "content": {"name": arguments["reply"]}}
                    await self.tell(other, mcp.response(message["id"], reply))
        return only_answer(id, heard), heard[:-1]

    async def delete(self):
        async with await Connection.open(self.port) as connection:
            status = await connection.request("DELETE", "/mcp", self.fields)
            expect(status in (200, 202, 204), True, f"status {status} of DELETE")


class Legacy:
    def __init__(self, port):
        self.port = port

    async def once(self, tally):
        """A session with calls, which is deleted, or abandoned."""
        session = await Session.open(self.port)
        async with await Connection.open(self.port) as connection:
            for _ in range(tally.random.randrange(1, 40)):
                text = words(tally)
                answer, _ = await session.call(connection, "echo", {"text": text})
                expect(mcp.text(answer), text, "echo")
                tally.good["legacy echo"] += 1
            if tally.random.random() < 0.3:
                answer, heard = await session.call(connection, "steps", {})
                await check_progress(heard, answer)
                tally.good["legacy progress"] += 1
        if tally.random.random() < 0.7:
            await session.delete()

    async def ask(self, tally):
        """Is asked by a request on the stream of its call."""
        session, name = await Session.open(self.port), fresh()
        async with await Connection.open(self.port) as connection:
            answer, _ = await session.call(connection, "ask", {"reply": name})
            expect(mcp.text(answer), name, "the answer to a question")
            tally.good["legacy ask"] += 1
        await session.delete()

    async def old_transport(self, tally):
        """HTTP with SSE: answers come on one stream."""
        async with await Connection.open(self.port) as stream, await Connection.open(self.port) as posts:
            expect(await stream.request("GET", "/sse", [("Accept", "text/event-stream")]), 200, "status of /sse")
            events = stream.events()
            kind, endpoint = await anext(events)
            expect(kind, "endpoint", "first event")

            async def post(message):
                status = await posts.request("POST", endpoint, [mcp.JSON], mcp.encode(message))
                expect(status, 202, "status of a message")
                await posts.body()

            async def answer():
                message = json.loads((await anext(events))[1])
                if not mcp.is_response(message):
                    raise Unexpected(f"no answer: {message}")
                return message

            await post(mcp.initialize("hello", "2024-11-05"))
            expect((await answer())["id"], "hello", "initialize")
            await post(mcp.notification("notifications/initialized"))
            for _ in range(tally.random.randrange(1, 10)):
                id, text = fresh(), words(tally)
                await post(mcp.legacy_call(id, "echo", {"text": text}))
                message = await answer()
                expect((message["id"], mcp.text(message)), (id, text), "echo")
                tally.good["old transport echo"] += 1


class Listeners:
    """Clients of both eras that wait for changes, and one that makes them: each change is heard by each who listens."""

    def __init__(self, port):
        self.port, self.waiting = port, set()

    async def listen_modern(self, tally):
        async with await Connection.open(self.port) as connection:
            body = mcp.modern(fresh(), "subscriptions/listen", {"notifications": {"resourceSubscriptions": [mcp.WATCHED]}})
            fields = mcp.modern_fields("subscriptions/listen")
            expect(await connection.request("POST", "/mcp", fields, mcp.encode(body)), 200, "status of listen")
            heard = connection.messages()
            expect((await anext(heard))["method"], "notifications/subscriptions/acknowledged", "first message")
            await self.hear(heard, tally, "modern change")

    async def listen_legacy(self, tally):
        session = await Session.open(self.port)
        async with await Connection.open(self.port) as connection, await Connection.open(self.port) as stream:
            id = fresh()
            body = mcp.encode(mcp.request(id, "resources/subscribe", {"uri": mcp.WATCHED}))
            await connection.request("POST", "/mcp", session.fields, body)
            only_answer(id, [message async for message in connection.messages()])
            fields = [field for field in session.fields if field != mcp.JSON]
            expect(await stream.request("GET", "/mcp", fields), 200, "status of GET")
            await self.hear(stream.messages(), tally, "legacy change")
        await session.delete()

    async def hear(self, heard, tally, kind):
        changed = asyncio.Event()
        self.waiting.add(changed)
        try:
            for _ in range(tally.random.randrange(1, 40)):
                message = await anext(heard)
                expect(message.get("method"), "notifications/resources/updated", "what is listened for")
                changed.set()
                tally.good[kind] += 1
                if not tally.running:
                    break
        finally:
            self.waiting.discard(changed)
            changed.set()

    async def keep_touching(self, tally):
        """Goes on until nobody waits for a change any more."""
        await tally.repeat("touch", self.touch, 0.1)
        while self.waiting:
            await self.touch(tally)
            await asyncio.sleep(0.1)

    async def touch(self, tally):
        listening = list(self.waiting)
        for changed in listening:
            changed.clear()
        async with await Connection.open(self.port) as connection:
            answer, _ = await call_modern(connection, "touch", {})
            expect(mcp.text(answer), "touched", "touch")
        for changed in listening:
            await asyncio.wait_for(changed.wait(), PATIENCE)
        tally.good["change heard by all"] += 1


def clients(port, tally):
    """What runs side by side."""
    modern, legacy, listeners = Modern(port), Legacy(port), Listeners(port)
    plan = [
        (4, "modern", modern.once, 0),
        (2, "modern progress", modern.progress, 0.1),
        (2, "modern ask", modern.ask, 0.1),
        (3, "legacy", legacy.once, 0.05),
        (2, "legacy ask", legacy.ask, 0.1),
        (2, "old transport", legacy.old_transport, 0.1),
        (4, "modern listener", listeners.listen_modern, 0.1),
        (3, "legacy listener", listeners.listen_legacy, 0.1),
    ]
    running = [tally.repeat(kind, once, pause) for many, kind, once, pause in plan for _ in range(many)]
    return [*running, listeners.keep_touching(tally)]
