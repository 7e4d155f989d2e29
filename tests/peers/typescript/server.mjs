// The fixture tools on the TypeScript SDK: `node server.mjs --stdio` or `node server.mjs --port P`.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

let cancelled = false;

const text = value => ({ content: [{ type: 'text', text: String(value) }] });

function fixture() {
    const server = new McpServer({ name: 'typescript-server', version: '1.0.0' });
    const tool = (name, inputSchema, run) => server.registerTool(name, { inputSchema: z.object(inputSchema) }, run);
    tool('echo', { text: z.string() }, args => text(args.text));
    tool('add', { a: z.number(), b: z.number() }, args => text(args.a + args.b));
    tool('sleep', { ms: z.number() }, async (args, context) => {
        try {
            await sleep(args.ms, undefined, { signal: context.mcpReq.signal });
        } catch {
            cancelled = true;
        }
        return text('slept');
    });
    tool('seen', {}, () => text(cancelled));
    tool('steps', {}, async (_, context) => {
        const progressToken = context.mcpReq._meta?.progressToken;
        if (progressToken !== undefined) {
            for (const progress of [1, 2, 3]) {
                await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } });
                await sleep(50);
            }
        }
        return text('done');
    });
    tool('fail', { text: z.string() }, args => ({ ...text(args.text), isError: true }));
    return server;
}

const port = process.argv.indexOf('--port');
if (port === -1) {
    serveStdio(fixture);
} else {
    const server = createServer(toNodeHandler(createMcpHandler(fixture)));
    server.listen(Number(process.argv[port + 1]), '127.0.0.1', () => {
        console.log(`listening on http://127.0.0.1:${server.address().port}/mcp`);
    });
}
