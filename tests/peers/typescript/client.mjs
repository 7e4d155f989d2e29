// The TypeScript SDK's client behind the command line of our own `.._fixture_client` (see ../README.md).
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const MODES = { auto: 'auto', legacy: 'legacy', modern: { pin: '2026-07-28' } };

const print = event => console.log(JSON.stringify(event));
const args = process.argv.slice(2);
const steps = [];
let transport;
let mode = 'auto';
let timeout;
let cancelAfter;
let answers;

// `--timeout` and `--cancel-after` concern the next call only.
function next() {
    const options = { timeout, cancelAfter };
    timeout = cancelAfter = undefined;
    return options;
}

while (args.length > 0) {
    const option = args.shift();
    if (option === '--connect') transport = new StreamableHTTPClientTransport(new URL(args.shift()));
    else if (option === '--connect-sse') transport = new SSEClientTransport(new URL(args.shift()));
    else if (option === '--spawn') transport = new StdioClientTransport({ command: args.shift(), args: args.splice(0) });
    else if (option === '--era') mode = MODES[args.shift()];
    else if (option === '--timeout') timeout = Number(args.shift());
    else if (option === '--cancel-after') cancelAfter = Number(args.shift());
    else if (option === '--answers') answers = JSON.parse(args.shift());
    else if (option === '--list') steps.push({ list: args.shift() });
    else if (option === '--call') steps.push({ name: args.shift(), arguments: JSON.parse(args.shift()), ...next() });
    else throw new Error(`unknown option ${option}`);
}

const client = new Client(
    { name: 'typescript-client', version: '1.0.0' },
    { capabilities: answers ? { elicitation: { form: {} } } : {}, versionNegotiation: { mode } }
);
if (answers) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
        print({ event: 'asked', message: params.message });
        const fields = Object.keys(params.requestedSchema.properties);
        return { action: 'accept', content: Object.fromEntries(fields.map(field => [field, answers[field]])) };
    });
}
let failed = false;
try {
    await client.connect(transport);
    print({
        event: 'connected',
        era: client.getProtocolEra(),
        revision: client.getNegotiatedProtocolVersion(),
        server: client.getServerVersion()
    });
    for (const step of steps) {
        try {
            await (step.list ? list() : call(step));
        } catch (error) {
            failed = true;
            print({ event: 'error', name: step.name, message: String(error.message), code: error.code });
        }
    }
    // Ends a session where there is one.
    await transport.terminateSession?.();
    await client.close();
    print({ event: 'closed' });
} catch (error) {
    failed = true;
    print({ event: 'error', message: String(error.message), code: error.code });
}
process.exitCode = failed ? 1 : 0;

async function list() {
    const { tools } = await client.listTools();
    print({ event: 'result', method: 'tools/list', tools: tools.map(tool => tool.name) });
}

async function call({ name, arguments: args, timeout = 60_000, cancelAfter }) {
    const abort = new AbortController();
    const timer = cancelAfter === undefined ? undefined : setTimeout(() => abort.abort('cancelled'), cancelAfter);
    try {
        const result = await client.callTool(
            { name, arguments: args },
            { timeout, signal: abort.signal, onprogress: progress => print({ event: 'progress', ...progress }) }
        );
        print({ event: 'result', method: 'tools/call', name, result });
    } finally {
        clearTimeout(timer);
    }
}
