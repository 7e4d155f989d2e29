"""The fixture tools on the Python SDK: `server.py --stdio` or `server.py --port P`."""

from fixture import add_tools, serve
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("python-server")
add_tools(server.tool(structured_output=False), Context, ToolError)
serve(lambda: server.run("stdio"), server.streamable_http_app)
