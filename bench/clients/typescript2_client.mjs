// The bench client on @modelcontextprotocol/client 2.x.
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { options, report } from './loop.mjs';

async function transport() {
    if (options.target === 'http') return new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${options.port}/mcp`));
    if (options.target === 'stdio') {
        const [command, ...args] = JSON.parse(options.command);
        return new StdioClientTransport({ command, args, env: JSON.parse(options.environment) });
    }
    process.argv.push('--transport=none');
    const { build } = await import('./typescript2_server.mjs');
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    serveStdio(build, { transport: theirs });
    return ours;
}

const mode = options.wire === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode } });
await client.connect(await transport());
await report(async () => (await client.callTool({ name: options.tool, arguments: { a: 2, b: 3 } })).content[0].text);
await client.close();
process.exit(0);
