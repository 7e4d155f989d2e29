// The fixture tools on the TypeScript SDK: `node server.mjs --stdio` or `node server.mjs --port P`.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, acceptedContent, createMcpHandler, inputRequired } from '@modelcontextprotocol/server';
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
                await sleep(250);
            }
        }
        return text('done');
    });
    tool('fail', { text: z.string() }, args => ({ ...text(args.text), isError: true }));
    tool('book', { destination: z.string() }, (args, context) => {
        const answered = (key, form) => acceptedContent(context.mcpReq.inputResponses, key, form);
        const ask = (key, message, form) =>
            inputRequired({ inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema: form }) }, requestState: seat });
        const places = z.object({ place: z.enum(['window', 'aisle']), bags: z.number().int().max(3).default(0) });
        const confirm = z.object({ really: z.boolean() });
        // The answers of earlier rounds do not come again: what they were is the state.
        let seat = context.mcpReq.requestState();
        const chosen = answered('seat', places);
        if (chosen) seat = chosen.place === 'window' ? '12A' : '12C';
        if (!seat) return ask('seat', 'Which seat?', places);
        const confirmed = answered('confirm', confirm);
        if (!confirmed) return ask('confirm', `Book seat ${seat} to ${args.destination}?`, confirm);
        return text(confirmed.really ? `Booked seat ${seat} to ${args.destination}.` : 'Nothing was booked.');
    });
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
