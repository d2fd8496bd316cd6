// An OpenID provider with its own pages for login and consent, which takes any name and password.
//
// node oidc_provider.mjs PORT CLIENT_ID CLIENT_SECRET REDIRECT_URI...
//
// It makes access tokens for any resource that a client names, with the scope notes: JWTs, but for those whose URL ends
// with /opaque. It says what those are good for.

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.PEERS}/package.json`);
const { Provider } = await import(pathToFileURL(require.resolve('oidc-provider')).href);
const [port, client_id, client_secret, ...redirect_uris] = process.argv.slice(2);

const provider = new Provider(`http://127.0.0.1:${port}`, {
    clients: [{ client_id, client_secret, redirect_uris, grant_types: ['authorization_code', 'refresh_token'] }],
    claims: { openid: ['sub'], email: ['email'] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, email: `${sub}@example.com` }) }),
    cookies: { keys: ['only for this test'] },
    pkce: { required: () => true },
    features: {
        introspection: { enabled: true },
        resourceIndicators: {
            enabled: true,
            defaultResource: () => undefined,
            useGrantedResource: () => true,
            getResourceServerInfo: (_context, resource) => ({
                scope: 'notes',
                accessTokenFormat: resource.endsWith('/opaque') ? 'opaque' : 'jwt',
            }),
        },
    },
});
provider.listen(Number(port), '127.0.0.1');
