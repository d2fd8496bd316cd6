// A TypeScript client visits any server. Run by the peers' own Node; prints one JSON line.
//
// node visitor.mjs 1|2 legacy|modern CALLS COMMAND ARGUMENT...
//
// CALLS is JSON: a list of [tool, arguments]. 1 is @modelcontextprotocol/sdk (legacy only), 2 is
// @modelcontextprotocol/client (both eras). PEERS names the folder that has node_modules.

import { createRequire } from 'node:module';

const require = createRequire(`${process.env.PEERS}/package.json`);
const [generation, era, calls, command, ...args] = process.argv.slice(2);

const [{ Client }, { StdioClientTransport }] =
    generation === '1'
        ? [
              require('@modelcontextprotocol/sdk/client/index.js'),
              require('@modelcontextprotocol/sdk/client/stdio.js'),
          ]
        : [require('@modelcontextprotocol/client'), require('@modelcontextprotocol/client/stdio')];

const client = new Client(
    { name: 'typescript-visitor', version: '1.0.0' },
    { capabilities: {}, versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' } },
);
const report = { answers: [] };
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));
const offers = client.getServerCapabilities();
report.tools = (await client.listTools()).tools.map((tool) => tool.name);
if (offers.resources) {
    report.resources = (await client.listResources()).resources.map((each) => each.uri);
}
if (offers.prompts) {
    report.prompts = (await client.listPrompts()).prompts.map((each) => each.name);
}
for (const [name, given] of JSON.parse(calls)) {
    const answer = await client.callTool({ name, arguments: given });
    const text = answer.content.filter((block) => block.type === 'text').map((block) => block.text);
    report.answers.push([Boolean(answer.isError), text.join('')]);
}
await client.close();
process.stdout.write(`${JSON.stringify(report)}\n`);
