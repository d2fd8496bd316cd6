// The bench server on @modelcontextprotocol/sdk 1.x: stdio, or Express with sessions as its documentation shows.
import { randomUUID } from 'node:crypto';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const options = Object.fromEntries(process.argv.slice(2).map(option => option.replace('--', '').split('=')));

const sum = total => ({ content: [{ type: 'text', text: String(total) }], structuredContent: { result: total } });

export function build() {
    const server = new McpServer({ name: 'bench', version: '1.0.0' });
    const shape = { description: 'Add two numbers.', inputSchema: { a: z.int(), b: z.int() }, outputSchema: { result: z.int() } };
    server.registerTool('add', shape, ({ a, b }) => sum(a + b));
    server.registerTool('add_async', shape, async ({ a, b }) => sum(a + b));
    const before = process.cpuUsage();
    for (let number = 0; number < Number(options.tools ?? 0); number++) {
        server.registerTool(`tool_${number}`, { description: 'Add two numbers.', inputSchema: { a: z.int(), b: z.int() }, outputSchema: { result: z.int() } }, async ({ a, b }) => sum(a + b));
    }
    const used = process.cpuUsage(before);
    if (options.tools) console.error('registered', (used.user + used.system) / 1e6);
    return server;
}

function serveHttp() {
    const app = createMcpExpressApp();
    const sessions = new Map();
    app.all('/mcp', async (request, response) => {
        let transport = sessions.get(request.headers['mcp-session-id']);
        if (!transport && isInitializeRequest(request.body)) {
            transport = new StreamableHTTPServerTransport({
                sessionIdGenerator: () => randomUUID(),
                enableJsonResponse: 'json' in options,
                onsessioninitialized: id => sessions.set(id, transport)
            });
            await build().connect(transport);
        }
        if (!transport) return response.status(400).end();
        await transport.handleRequest(request, response, request.body);
    });
    app.listen(Number(options.port), '127.0.0.1');
}

if (options.transport === 'http') serveHttp();
else if (options.transport !== 'none') await build().connect(new StdioServerTransport());
