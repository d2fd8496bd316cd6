// The bench server on @modelcontextprotocol/server 2.x: stdio, or plain node:http with both eras.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const options = Object.fromEntries(process.argv.slice(2).map(option => option.replace('--', '').split('=')));
const sessions = new Map();
let handler;

const sum = total => ({ content: [{ type: 'text', text: String(total) }], structuredContent: { result: total } });

export function build() {
    const server = new McpServer({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
    const numbers = z.object({ a: z.int(), b: z.int() });
    const shape = { description: 'Add two numbers.', inputSchema: numbers, outputSchema: z.object({ result: z.int() }) };
    server.registerTool('add', shape, ({ a, b }) => sum(a + b));
    server.registerTool('add_async', shape, async ({ a, b }) => sum(a + b));
    server.registerTool('touch', { description: 'Tell everybody who listens that the tools changed.' }, async () => {
        handler?.notify.toolsChanged();
        return { content: [{ type: 'text', text: 'done' }] };
    });
    const before = process.cpuUsage();
    for (let number = 0; number < Number(options.tools ?? 0); number++) {
        const each = { description: 'Add two numbers.', inputSchema: z.object({ a: z.int(), b: z.int() }), outputSchema: z.object({ result: z.int() }) };
        server.registerTool(`tool_${number}`, each, async ({ a, b }) => sum(a + b));
    }
    const used = process.cpuUsage(before);
    if (options.tools) console.error('registered', (used.user + used.system) / 1e6);
    return server;
}

async function serveLegacy(request, response) {
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport) {
        transport = new NodeStreamableHTTPServerTransport({
            sessionIdGenerator: () => randomUUID(),
            enableJsonResponse: 'json' in options,
            onsessioninitialized: id => sessions.set(id, transport)
        });
        await build().connect(transport);
    }
    await transport.handleRequest(request, response);
}

function serveHttp() {
    handler = createMcpHandler(build, { legacy: 'reject' });
    const modern = toNodeHandler(handler);
    createServer((request, response) => {
        const serve = request.headers['mcp-protocol-version'] === '2026-07-28' ? modern : serveLegacy;
        serve(request, response);
    }).listen(Number(options.port), '127.0.0.1');
}

if (options.transport === 'http') serveHttp();
else if (options.transport !== 'none') serveStdio(build);
