// A TypeScript client against the example server. Run by the peers' own Node; prints one JSON line.
//
// node typescript_client.mjs 1|2 legacy|modern http URL
// node typescript_client.mjs 1|2 legacy|modern stdio COMMAND ARGUMENT...
//
// 1 is @modelcontextprotocol/sdk (legacy only), 2 is @modelcontextprotocol/client (both eras). PEERS names the folder
// that has node_modules.

import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

const require = createRequire(`${process.env.PEERS}/package.json`);
const [generation, era, kind, ...target] = process.argv.slice(2);
const JOURNAL = 'example://journal';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const report = { log: [], progress: [], changes: [] };

function first() {
    const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = require('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = require('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const types = require('@modelcontextprotocol/sdk/types.js');
    const schemas = {
        'elicitation/create': types.ElicitRequestSchema,
        'sampling/createMessage': types.CreateMessageRequestSchema,
        'roots/list': types.ListRootsRequestSchema,
        'notifications/message': types.LoggingMessageNotificationSchema,
        'notifications/resources/updated': types.ResourceUpdatedNotificationSchema,
        'notifications/tools/list_changed': types.ToolListChangedNotificationSchema,
    };
    return {
        Client,
        StdioClientTransport,
        StreamableHTTPClientTransport,
        on: (client, method, handler) => client.setRequestHandler(schemas[method], handler),
        hear: (client, method, handler) => client.setNotificationHandler(schemas[method], handler),
        call: (client, params, options) => client.callTool(params, undefined, options),
    };
}

function second() {
    const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
    const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
    return {
        Client,
        StdioClientTransport,
        StreamableHTTPClientTransport,
        on: (client, method, handler) => client.setRequestHandler(method, handler),
        hear: (client, method, handler) => client.setNotificationHandler(method, handler),
        call: (client, params, options) => client.callTool(params, options),
    };
}

const sdk = generation === '1' ? first() : second();
const text = (result) => result.content.filter((block) => block.type === 'text').map((block) => block.text).join('');

function makeTransport() {
    const transport =
        kind === 'http'
            ? new sdk.StreamableHTTPClientTransport(new URL(target[0]))
            : new sdk.StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'inherit' });
    const remember = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (version) => {
        report.version = version;
        remember?.(version);
    };
    return transport;
}

function makeClient() {
    const client = new sdk.Client(
        { name: 'typescript-peer', version: '1.0.0' },
        {
            capabilities: { elicitation: {}, sampling: {}, roots: {} },
            versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' },
        },
    );
    sdk.on(client, 'elicitation/create', async (request) => {
        report.asked = request.params.message;
        return { action: 'accept', content: { name: 'Ann', age: 7 } };
    });
    sdk.on(client, 'sampling/createMessage', async (request) => {
        report.sampled = request.params.maxTokens;
        return { role: 'assistant', content: { type: 'text', text: 'all is well' }, model: 'test-model' };
    });
    sdk.on(client, 'roots/list', async () => ({ roots: [{ uri: 'file:///srv/project', name: 'project' }] }));
    sdk.hear(client, 'notifications/message', (note) => void report.log.push([note.params.level, note.params.data]));
    sdk.hear(client, 'notifications/resources/updated', () => void report.changes.push('resource'));
    sdk.hear(client, 'notifications/tools/list_changed', () => void report.changes.push('tools'));
    return client;
}

async function tools(client) {
    report.tools = (await client.listTools()).tools.map((tool) => tool.name);
    const call = (name, args = {}, options) => sdk.call(client, { name, arguments: args }, options);
    report.add = text(await call('add', { a: 2, b: 3 }));
    report.weather = (await call('weather', { city: 'Oslo' })).structuredContent;
    report.picture = (await call('picture')).content[0].mimeType;
    const onprogress = (note) => void report.progress.push([note.progress, note.total, note.message]);
    report.count = text(await call('count', { steps: 3 }, { onprogress }));
    const failed = await call('fail');
    report.fail = [failed.isError, text(failed)];
    const wrong = await call('add', { a: 'x', b: 3 });
    report.wrong = [wrong.isError, text(wrong).length > 0];
    report.introduce = text(await call('introduce'));
    report.summarize = text(await call('summarize', { text: 'long story' }));
    report.workspace = text(await call('workspace'));
    const meta = era === 'modern' ? { [LOG_LEVEL]: 'debug' } : undefined;
    report.chatter = text(await sdk.call(client, { name: 'chatter', arguments: {}, _meta: meta }));
}

async function rest(client) {
    report.resources = (await client.listResources()).resources.map((each) => each.uri);
    report.templates = (await client.listResourceTemplates()).resourceTemplates.map((each) => each.uriTemplate);
    report.motto = (await client.readResource({ uri: 'example://motto' })).contents[0].text;
    report.pixel = (await client.readResource({ uri: 'example://pixel' })).contents[0].blob.slice(0, 8);
    report.user = JSON.parse((await client.readResource({ uri: 'example://users/ann' })).contents[0].text);
    report.prompts = (await client.listPrompts()).prompts.map((each) => each.name);
    const args = { code: 'x = 1', language: 'python' };
    report.review = (await client.getPrompt({ name: 'review', arguments: args })).messages[0].content.text;
    const ref = { type: 'ref/prompt', name: 'review' };
    const completed = await client.complete({ ref, argument: { name: 'language', value: 'p' } });
    report.completion = completed.completion.values;
    report.missing = await client.readResource({ uri: 'example://nothing' }).catch((error) => error.code);
}

async function journal(client) {
    const result = await client.readResource({ uri: JOURNAL }, { cacheMode: 'refresh' });
    return result.contents[0].text;
}

async function cancellation(client) {
    const controller = new AbortController();
    const options = { signal: controller.signal, onprogress: () => controller.abort('enough') };
    await sdk.call(client, { name: 'wait', arguments: { seconds: 60 } }, options).catch(() => undefined);
    for (let tries = 0; tries < 100; tries += 1) {
        report.journal = (await journal(client)).split('\n');
        if (report.journal.includes('wait: cancelled')) {
            return;
        }
        await sleep(50);
    }
}

async function changes(client) {
    if (era === 'modern') {
        await client.listen({ toolsListChanged: true, resourceSubscriptions: [JOURNAL] });
    } else {
        await client.subscribeResource({ uri: JOURNAL });
    }
    await sdk.call(client, { name: 'touch', arguments: {} });
    for (let tries = 0; tries < 100 && new Set(report.changes).size < 2; tries += 1) {
        await sleep(50);
    }
    report.changes = [...new Set(report.changes)].sort();
}

async function main() {
    const client = makeClient();
    await client.connect(makeTransport());
    report.version = client.getNegotiatedProtocolVersion?.() ?? report.version;
    report.server = client.getServerVersion().name;
    if (era === 'legacy') {
        await client.setLoggingLevel('debug');
    }
    await tools(client);
    await rest(client);
    await cancellation(client);
    await changes(client);
    await client.close();
    console.log(JSON.stringify(report));
}

await main();
