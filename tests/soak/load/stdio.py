"""Servers on standard input and output: one pipe each, on which good calls and harm are mixed."""

import asyncio
import itertools
import json

from . import messages as mcp
from .good import check_progress, expect, fresh, numbers, words
from .http import PATIENCE, Unexpected


class Peer:
    """A client on the pipes of a process. What it sends amiss has ids that begin with `bad`, or none."""

    def __init__(self, process, modern):
        self.process, self.modern = process, modern
        self.waiting, self.progress = {}, {}
        self.answered = set()
        self.writing = asyncio.Lock()
        self.ids = itertools.count()
        self.problems = []
        self.reading = asyncio.ensure_future(self.read())

    @classmethod
    async def start(cls, command, log, modern):
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=log, limit=8 << 20)
        peer = cls(process, modern)
        if not modern:
            answer = await peer.request("initialize", mcp.initialize(0)["params"])
            expect(answer["result"]["protocolVersion"], mcp.LEGACY, "revision")
            await peer.write(mcp.notification("notifications/initialized"))
        return peer

    async def read(self):
        while line := await self.process.stdout.readline():
            try:
                await self.hear(json.loads(line))
            except Exception as error:
                self.problems.append(f"{type(error).__name__}: {error}: {line[:200]!r}")
        for waiting in self.waiting.values():
            waiting.set_exception(Unexpected("the server has ended"))

    async def hear(self, message):
        if mcp.is_response(message):
            id = message.get("id")
            if id in self.waiting:
                self.waiting.pop(id).set_result(message)
                self.answered.add(id)
            elif id is not None and not str(id).startswith("bad"):
                raise Unexpected("answered twice" if id in self.answered else "an answer to nothing")
        elif message["method"] == "notifications/progress":
            self.progress.setdefault(message["params"]["progressToken"], []).append(message)
        elif message["method"] == "elicitation/create":
            # What is asked here is asked of whoever is served at that moment: any name will do.
            reply = {"action": "accept", "content": {"name": "somebody"}}
            asyncio.ensure_future(self.write(mcp.response(message["id"], reply)))

    async def write(self, message):
        await self.write_raw(mcp.encode(message) + b"\n")

    async def write_raw(self, data):
        async with self.writing:
            for at in range(0, len(data), 1 << 16):
                self.process.stdin.write(data[at : at + (1 << 16)])
                await asyncio.wait_for(self.process.stdin.drain(), PATIENCE)

    async def request(self, method, params):
        id = fresh()
        # Its answer may come before all is written that others write.
        answered = self.waiting[id] = asyncio.get_running_loop().create_future()
        build = mcp.modern if self.modern else mcp.request
        if not self.modern and method == "tools/call":
            params = {**params, "_meta": {"progressToken": id}}
        await self.write(build(id, method, params))
        answer = await asyncio.wait_for(answered, PATIENCE)
        if self.modern and method == "tools/call" and answer["result"].get("resultType") == "input_required":
            return await self.request(method, {**params, **mcp.reply_to(answer["result"], "somebody")})
        return {**answer, "before": self.progress.pop(id, [])}

    async def call(self, tool, arguments):
        return await self.request("tools/call", {"name": tool, "arguments": arguments})

    async def good(self, tally):
        era = "modern" if self.modern else "legacy"
        kind = tally.random.choice(["echo"] * 8 + ["add"] * 4 + ["steps", "ask"])
        if kind == "echo":
            text = words(tally)
            expect(mcp.text(await self.call("echo", {"text": text})), text, "echo")
        elif kind == "add":
            a, b = numbers(tally.random)
            expect(float(mcp.text(await self.call("add", {"a": a, "b": b}))), float(a + b), "add")
        elif kind == "steps":
            answer = await self.call("steps", {})
            await check_progress(answer["before"], answer)
        else:
            expect(mcp.text(await self.call("ask", {})), "somebody", "ask")
        tally.good[f"{era} stdio {kind}"] += 1

    async def bad(self, tally):
        kind = tally.random.choice(["garbage", "deep", "ids", "responses", "cancels", "slow", "shapes"])
        if kind == "garbage":
            await self.write_raw(tally.random.randbytes(2_000).replace(b"\n", b"") + b"\n")
        elif kind == "deep":
            await self.write_raw(b'{"jsonrpc":"2.0","id":"bad","method":"x","params":' + b"[" * 100_000 + b"\n")
        elif kind == "ids":
            for id in [b"null", b"{}", b"[1]", b"true", b'"bad","id":"bad"']:
                await self.write_raw(b'{"jsonrpc":"2.0","id":%s,"method":"tools/list"}\n' % id)
        elif kind == "responses":
            data = b"".join(mcp.encode(mcp.response(f"bad-{n}", {})) + b"\n" for n in range(1_000))
            await self.write_raw(data)
        elif kind == "cancels":
            id = f"bad-{next(self.ids)}"
            params = {"name": "sleep", "arguments": {"ms": 5}}
            await self.write(mcp.modern(id, "tools/call", params) if self.modern else mcp.request(id, "tools/call", params))
            for _ in range(20):
                await self.write(mcp.notification("notifications/cancelled", {"requestId": id}))
        elif kind == "slow":
            async with self.writing:
                for byte in b'{"jsonrpc":"2.0","method":"notifications/slow"}\n':
                    self.process.stdin.write(bytes([byte]))
                    await asyncio.sleep(0.01)
        else:
            await self.write_raw(b'[]\n\n"text"\n{}\n{"jsonrpc":"1.0","id":"bad","method":"ping"}\n[1,2]\n')
        tally.bad[f"stdio {kind}"] += 1

    async def long_line(self, tally):
        await self.write_raw(b'{"jsonrpc":"2.0","id":"bad","method":"' + b"l" * (64 << 20) + b'"}\n')
        tally.bad["stdio line of 64 MiB"] += 1

    async def ends(self, tally, how):
        """The server ends with its client."""
        if how == "close":
            self.process.stdin.close()
        elif how == "half":
            self.process.stdin.write(b'{"jsonrpc":"2.0","id":"bad","meth')
            self.process.stdin.close()
        elif how == "deaf":
            self.reading.cancel()
            self.process._transport.get_pipe_transport(1).close()
            self.process.stdin.write(mcp.encode(mcp.modern("bad", "tools/list", {})) + b"\n")
            self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), PATIENCE)
        except TimeoutError:
            tally.problem(f"a stdio server goes on without its client ({how})")
            self.process.kill()
        for problem in self.problems:
            tally.problem(f"stdio: {problem}")


async def short_lives(command, log, tally):
    """One process after the other, which is called and then left in some way."""

    async def once(tally):
        peer = await Peer.start(command, log, tally.random.random() < 0.5)
        for _ in range(tally.random.randrange(4)):
            await peer.good(tally)
        await peer.ends(tally, tally.random.choice(["close", "half", "deaf"]))
        tally.bad["stdio clients that leave"] += 1

    await tally.repeat("short life", once, 0.5)


def clients(peer, tally):
    good = [tally.repeat("stdio", peer.good) for _ in range(6)]
    return [*good, tally.repeat("stdio harm", peer.bad, 0.3), tally.repeat("long line", peer.long_line, 20)]
