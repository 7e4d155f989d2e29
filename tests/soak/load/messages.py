"""Messages of both eras, as a client writes them."""

import json

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
WATCHED = "soak://watched"
CAPABILITIES = {"elicitation": {"form": {}}}
ACCEPT = ("Accept", "application/json, text/event-stream")
JSON = ("Content-Type", "application/json")


def request(id, method, params=None):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}


def notification(method, params=None):
    return {"jsonrpc": "2.0", "method": method, "params": params or {}}


def response(id, result):
    return {"jsonrpc": "2.0", "id": id, "result": result}


def modern(id, method, params):
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
        "progressToken": id,
    }
    return request(id, method, {**params, "_meta": meta})


def legacy_call(id, tool, arguments):
    return request(id, "tools/call", {"name": tool, "arguments": arguments, "_meta": {"progressToken": id}})


def initialize(id, version=LEGACY):
    client = {"name": "soak", "version": "1"}
    return request(id, "initialize", {"protocolVersion": version, "capabilities": CAPABILITIES, "clientInfo": client})


def modern_fields(method, name=None):
    fields = [ACCEPT, JSON, ("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)]
    return fields + ([("Mcp-Name", name)] if name else [])


def session_fields(session):
    return [ACCEPT, JSON, ("MCP-Protocol-Version", LEGACY), ("Mcp-Session-Id", session)]


def encode(message):
    return json.dumps(message, separators=(",", ":")).encode()


def is_response(message):
    return "method" not in message


def reply_to(result, name):
    """What a call brings when it is made again, because its result asked for input."""
    replies = {key: {"action": "accept", "content": {"name": name}} for key in result["inputRequests"]}
    state = {"requestState": result["requestState"]} if "requestState" in result else {}
    return {"inputResponses": replies, **state}


def text(answer):
    """The text of a tool's result; what it says instead, if there is none."""
    try:
        return answer["result"]["content"][0]["text"]
    except (KeyError, IndexError, TypeError):
        return f"no text in {json.dumps(answer)[:200]}"
