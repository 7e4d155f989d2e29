// An authorization server for the tests: oidc-provider, with a user who agrees as soon as the browser comes.
// Prints its issuer on a line, and serves until its input ends.

import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const server = createServer();
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'resource-server',
      client_secret: 'resource-server-secret',
      grant_types: [],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  // Scopes of the resource are its own; these are of the authorization server.
  scopes: ['openid', 'offline_access'],
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true, allowedPolicy: () => true },
    dPoP: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'use write',
        audience: resource,
        accessTokenFormat: 'opaque',
        accessTokenTTL: 600,
      }),
    },
  },
  pkce: { required: () => true },
  issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
  rotateRefreshToken: true,
  interactions: { url: (_, interaction) => `/agree/${interaction.uid}` },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  cookies: { keys: ['of-this-test'] },
  ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, RefreshToken: 600 },
});

// What a client is told is less than this.
provider.on('grant.error', (_, error) => console.error(`${error.message}: ${error.error_detail}`));

/** The user agrees to whatever is asked for. */
async function agree(request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'ada' } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope ?? '');
  grant.addResourceScope(params.resource, params.scope ?? '');
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

/** Ends one access token. Revoking it the standard's way ends what else came of the same consent, too. */
async function end(request, response) {
  const token = await provider.AccessToken.find(request.url.slice('/end/'.length));
  await token.destroy();
  response.end('{}');
}

const callback = provider.callback();
server.on('request', (request, response) => {
  const ours = { '/agree/': agree, '/end/': end };
  const handler = ours[request.url.match(/^\/\w+\//)?.[0]];
  if (handler === undefined) return callback(request, response);
  handler(request, response).catch((error) => {
    response.statusCode = 500;
    response.end(String(error));
  });
});

console.log(issuer);
process.stdin.on('end', () => process.exit(0)).resume();
