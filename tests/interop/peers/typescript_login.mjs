// A TypeScript client logs in to a guarded server; prints one JSON line.
//
// node typescript_login.mjs 1|2 URL
//
// 1 is @modelcontextprotocol/sdk, 2 is @modelcontextprotocol/client. PEERS names the folder that has node_modules.

import { createRequire } from 'node:module';

const require = createRequire(`${process.env.PEERS}/package.json`);
const [generation, url] = process.argv.slice(2);
const CALLBACK = 'http://127.0.0.1:3031/callback';
const kept = {};

const provider = {
    redirectUrl: CALLBACK,
    clientMetadata: { client_name: 'typescript client', redirect_uris: [CALLBACK] },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => { kept.client = client; },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => { kept.tokens = tokens; },
    codeVerifier: () => kept.verifier,
    saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    async redirectToAuthorization(target) {
        let place = String(target);
        for (let hops = 0; hops < 10 && !place.startsWith(CALLBACK); hops++) {
            place = (await fetch(place, { redirect: 'manual' })).headers.get('location');
        }
        kept.back = new URL(place).searchParams;
    },
};

async function loggedIn({ Client, StreamableHTTPClientTransport, UnauthorizedError }) {
    const options = { authProvider: provider };
    const first = new StreamableHTTPClientTransport(new URL(url), options);
    try {
        await new Client({ name: 'login', version: '1' }).connect(first);
    } catch (error) {
        if (!(error instanceof UnauthorizedError)) throw error;
        await first.finishAuth(generation === '1' ? kept.back.get('code') : kept.back);
    }
    const client = new Client({ name: 'login', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), options));
    return client;
}

const client = await loggedIn(
    generation === '1'
        ? {
              ...require('@modelcontextprotocol/sdk/client/index.js'),
              ...require('@modelcontextprotocol/sdk/client/streamableHttp.js'),
              ...require('@modelcontextprotocol/sdk/client/auth.js'),
          }
        : require('@modelcontextprotocol/client'),
);
const { tools } = await client.listTools();
const result = await client.callTool({ name: 'whoami', arguments: {} });
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), who: result.content[0].text }));
await client.close();
