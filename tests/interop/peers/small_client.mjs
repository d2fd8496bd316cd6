// A client of a third party, or of the first days, against the example server. Prints one JSON line.
//
// node small_client.mjs sdk-1.0 stdio COMMAND ARGUMENT...
// node small_client.mjs ai-sdk  http URL | stdio COMMAND ARGUMENT...
//
// PEERS names the folder that has node_modules.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.PEERS}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)));
const [sdk, kind, command, ...args] = process.argv.slice(2);
const text = (result) => result.content.map((block) => block.text).join('');

async function first() {
    const folder = `${process.env.PEERS}/node_modules/sdk-1.0/dist`;
    const { Client } = await import(`${folder}/client/index.js`);
    const { StdioClientTransport } = await import(`${folder}/client/stdio.js`);
    const client = new Client({ name: 'sdk-1.0', version: '1.0.0' }, { capabilities: {} });
    await client.connect(new StdioClientTransport({ command, args }));
    const called = async (name, given) => client.callTool({ name, arguments: given });
    const failed = await called('fail', {});
    const report = {
        server: client.getServerVersion().name,
        tools: (await client.listTools()).tools.map((tool) => tool.name),
        add: text(await called('add', { a: 2, b: 3 })),
        count: text(await called('count', { steps: 3 })),
        fail: [failed.isError, text(failed)],
        motto: (await client.readResource({ uri: 'example://motto' })).contents[0].text,
        review: (await client.getPrompt({ name: 'review', arguments: { code: 'x = 1' } })).messages[0].content.text,
        missing: await client.readResource({ uri: 'example://nothing' }).catch((error) => error.code),
    };
    await client.close();
    return report;
}

async function vercel() {
    const { createMCPClient } = await load('@ai-sdk/mcp');
    const stdio = async () => new (await load('@ai-sdk/mcp/mcp-stdio')).Experimental_StdioMCPTransport({ command, args });
    const transport = kind === 'http' ? { type: 'http', url: command } : await stdio();
    const client = await createMCPClient({ transport });
    const tools = await client.tools();
    const called = (name, given) => tools[name].execute(given, { messages: [], toolCallId: name });
    const failed = await called('fail', {});
    const report = {
        server: 'everything',
        tools: Object.keys(tools),
        add: text(await called('add', { a: 2, b: 3 })),
        count: text(await called('count', { steps: 3 })),
        fail: [failed.isError, text(failed)],
        motto: (await client.readResource({ uri: 'example://motto' })).contents[0].text,
        review: (await client.experimental_getPrompt({ name: 'review', arguments: { code: 'x = 1' } })).messages[0].content
            .text,
        missing: await client.readResource({ uri: 'example://nothing' }).catch((error) => error.code),
    };
    await client.close();
    return report;
}

console.log(JSON.stringify(await (sdk === 'ai-sdk' ? vercel() : first())));
process.exit(0);
