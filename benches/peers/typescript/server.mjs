// The tools that are measured, on the TypeScript SDK: `node server.mjs --stdio | --port P [--tools N]`, with so many
// tools that do nothing besides.
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const value = flag => (process.argv.includes(flag) ? Number(process.argv[process.argv.indexOf(flag) + 1]) : undefined);
const dummies = value('--tools') ?? 0;
const port = value('--port');

const text = value => ({ content: [{ type: 'text', text: value }] });

function bench() {
    const server = new McpServer({ name: 'bench-typescript', version: '1.0.0' });
    const tool = (name, description, inputSchema, run) =>
        server.registerTool(name, { description, inputSchema: z.object(inputSchema) }, run);
    tool('echo', 'Says the text back.', { text: z.string() }, args => text(args.text));
    tool('burst', 'Reports progress as fast as it can.', { count: z.number() }, async (args, context) => {
        const progressToken = context.mcpReq._meta?.progressToken;
        for (let progress = 1; progressToken !== undefined && progress <= args.count; progress++) {
            await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } });
        }
        return text('done');
    });
    for (let number = 0; number < dummies; number++) {
        tool(`dummy_${String(number).padStart(5, '0')}`, 'Does nothing.', {}, () => text(''));
    }
    return server;
}

if (port === undefined) {
    serveStdio(bench);
} else {
    const server = createServer(toNodeHandler(createMcpHandler(bench)));
    server.listen(port, '127.0.0.1', () => {
        console.log(`listening on http://127.0.0.1:${server.address().port}/mcp`);
    });
}
