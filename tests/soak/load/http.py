"""HTTP/1.1 as a client needs it here: one connection, one response after the other, event streams."""

import asyncio
import json
import socket
import struct

PATIENCE = 30
"""Seconds after which whatever a good client waits for counts as lost."""


class Unexpected(Exception):
    """The server said something else than it should have."""


def head(method, path, fields, length=None):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"] + [f"{name}: {value}" for name, value in fields]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Connection:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.status, self.fields = None, {}

    @classmethod
    async def open(cls, port):
        return cls(*await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port, limit=8 << 20), PATIENCE))

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.close()

    def close(self):
        self.writer.close()

    def reset(self):
        """Dies: what the server sees is RST."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def send(self, data):
        self.writer.write(data)
        await asyncio.wait_for(self.writer.drain(), PATIENCE)

    async def request(self, method, path, fields, body=None):
        """Sends a request, and reads the head of its response."""
        length = None if body is None else len(body)
        await self.send(head(method, path, fields, length) + (body or b""))
        return await self.response()

    async def response(self):
        """Reads the head of a response; returns its status."""
        text = (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), PATIENCE)).decode()
        status, *fields = text.strip().split("\r\n")
        self.status = int(status.split(" ")[1])
        self.fields = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        return self.status

    async def pieces(self):
        """The body, as it comes."""
        if self.fields.get("transfer-encoding") == "chunked":
            while True:
                line = await asyncio.wait_for(self.reader.readline(), PATIENCE)
                size = int(line, 16)
                data = await asyncio.wait_for(self.reader.readexactly(size + 2), PATIENCE)
                if size == 0:
                    return
                yield data[:-2]
        elif length := int(self.fields.get("content-length", 0)):
            yield await asyncio.wait_for(self.reader.readexactly(length), PATIENCE)

    async def body(self):
        return b"".join([piece async for piece in self.pieces()])

    async def events(self):
        """Event type and data of each event of a stream."""
        rest, kind, data = b"", "message", []
        async for piece in self.pieces():
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                name, _, value = line.decode().partition(":")
                value = value.removeprefix(" ")
                if not line:
                    if "".join(data):
                        yield kind, "\n".join(data)
                    kind, data = "message", []
                elif name == "event":
                    kind = value
                elif name == "data":
                    data.append(value)
        if rest or data:
            raise Unexpected(f"a stream ends within an event: {rest!r} {data!r}")

    async def messages(self):
        """The messages of a response, whatever its shape."""
        kind = self.fields.get("content-type", "")
        if kind.startswith("text/event-stream"):
            async for _, data in self.events():
                yield json.loads(data)
        elif body := await self.body():
            if kind.startswith("application/json"):
                yield json.loads(body)

    async def ends(self):
        """Waits until the server has closed the connection."""
        while await asyncio.wait_for(self.reader.read(1 << 16), PATIENCE):
            pass
