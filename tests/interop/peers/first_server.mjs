// A small server on the TypeScript SDK of the first days (1.0), over stdio, or HTTP+SSE on
// a port: `first_server.mjs [sse PORT]`. PEERS names the folder that has node_modules.

const folder = `${process.env.PEERS}/node_modules/sdk-1.0/dist`;
const { Server } = await import(`${folder}/server/index.js`);
const { StdioServerTransport } = await import(`${folder}/server/stdio.js`);
const types = await import(`${folder}/types.js`);

const text = (value) => [{ type: 'text', text: value }];
const number = { type: 'number' };
const tools = {
    add: [{ a: number, b: number }, ({ a, b }) => ({ content: text(`${a + b}`) })],
    fail: [{}, () => ({ content: text('on purpose'), isError: true })],
    count: [{ steps: number }, ({ steps }) => ({ content: text(`counted to ${steps}`) })],
};

const server = new Server({ name: 'small', version: '1.0.0' }, { capabilities: { tools: {}, resources: {}, prompts: {} } });
const on = (schema, answer) => server.setRequestHandler(schema, async (request) => answer(request.params));

on(types.ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, [properties]]) => ({ name, inputSchema: { type: 'object', properties } })),
}));
on(types.CallToolRequestSchema, async ({ name, arguments: given, _meta }) => {
    for (let step = 1; name === 'count' && step <= given.steps; step += 1) {
        const params = { progressToken: _meta.progressToken, progress: step, total: given.steps };
        await server.notification({ method: 'notifications/progress', params });
    }
    return tools[name][1](given ?? {});
});
on(types.ListResourcesRequestSchema, () => ({ resources: [{ uri: 'note://motto', name: 'motto' }] }));
on(types.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: 'note://users/{name}', name: 'user' }],
}));
on(types.ReadResourceRequestSchema, ({ uri }) => ({
    contents: [{ uri, text: uri === 'note://motto' ? 'Write it once.' : `user ${uri.split('/').pop()}` }],
}));
on(types.ListPromptsRequestSchema, () => ({ prompts: [{ name: 'review', arguments: [{ name: 'code', required: true }] }] }));
on(types.GetPromptRequestSchema, ({ arguments: given }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Review ${given.code}` } }],
}));

if (process.argv[2] === 'sse') {
    const { createServer } = await import('node:http');
    const { SSEServerTransport } = await import(`${folder}/server/sse.js`);
    let transport;
    createServer(async (request, response) => {
        if (request.method === 'GET') {
            transport = new SSEServerTransport('/messages', response);
            await server.connect(transport);
        } else if (request.url.startsWith('/messages')) {
            await transport.handlePostMessage(request, response);
        } else {
            response.writeHead(404).end();
        }
    }).listen(Number(process.argv[3]), '127.0.0.1');
} else {
    await server.connect(new StdioServerTransport());
}
