"""The fixture tools on FastMCP: `fastmcp_server.py --stdio` or `fastmcp_server.py --port P`."""

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fixture import add_tools, serve

server = FastMCP("fastmcp-server")
add_tools(server.tool(output_schema=None), Context, ToolError)
serve(lambda: server.run("stdio", show_banner=False), server.http_app)
