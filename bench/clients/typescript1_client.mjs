// The bench client on @modelcontextprotocol/sdk 1.x.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { options, report } from './loop.mjs';

async function transport() {
    if (options.target === 'http') return new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${options.port}/mcp`));
    if (options.target === 'stdio') {
        const [command, ...args] = JSON.parse(options.command);
        return new StdioClientTransport({ command, args, env: JSON.parse(options.environment) });
    }
    process.argv.push('--transport=none');
    const { build } = await import('./typescript1_server.mjs');
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await build().connect(theirs);
    return ours;
}

const client = new Client({ name: 'bench', version: '1.0.0' });
await client.connect(await transport());
await report(async () => (await client.callTool({ name: options.tool, arguments: { a: 2, b: 3 } })).content[0].text);
await client.close();
process.exit(0);
