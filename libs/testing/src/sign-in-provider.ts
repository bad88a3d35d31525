import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWK, type JWTPayload } from 'jose';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Provider } from 'oidc-provider';
// @ts-expect-error -- the types describe the main module only
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
import { listen } from './addresses.ts';

/** An account at the provider, as the provider reports it. */
export interface ProviderAccount {
  email?: string;
  email_verified?: boolean | string;
  name?: string;
}

type Json = Record<string, unknown>;
export type Tamper = (path: string, body: Json) => Promise<Json>;

export type SignInProvider = Awaited<ReturnType<typeof startSignInProvider>>;

export interface SignInProviderOptions {
  redirectUri: string;
  /** Whether the account's claims must be requested separately; if false, they are in the ID token. @default true */
  hasThinTokens?: boolean;
}

const ALG = 'RS256';

/** Starts a real OpenID provider on this machine, behind a proxy that can change its responses. */
export async function startSignInProvider({ redirectUri, hasThinTokens = true }: SignInProviderOptions) {
  const [clientId, clientSecret] = ['taskmesh', 'a secret of the client that is long enough'];
  /** By `sub`. */
  const accounts = new Map<string, ProviderAccount>();
  /** All requests so far, as `METHOD /path`. */
  const requests: string[] = [];
  let change: Tamper | undefined;
  let override: ((response: ServerResponse) => void) | undefined;

  const { privateKey } = await generateKeyPair(ALG, { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), kid: 'provider-key', alg: ALG, use: 'sig' };

  const inner = createServer();
  const front = createServer();
  const listening = [await listen(inner), await listen(front)] as const;
  const [{ port }, { url: issuer }] = listening;
  const provider: Provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [key] },
    adapter: createMemoryAdapter(),
    cookies: { keys: ['a key of the cookies'] },
    conformIdTokenClaims: hasThinTokens,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    ttl: Object.fromEntries(['AccessToken', 'Grant', 'IdToken', 'Interaction', 'Session'].map((kind) => [kind, 600])),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...accounts.get(sub) }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId, accountId: oidc.session?.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const handle = provider.callback();
  /** `login_hint` or a link on the page for browsers selects the account; a program without either declines. */
  const interact = async (request: IncomingMessage, response: ServerResponse) => {
    const { params } = await provider.interactionDetails(request, response);
    const sub = params.login_hint ?? new URL(request.url ?? '', issuer).searchParams.get('sub');
    if (typeof sub !== 'string' && request.headers.accept?.includes('text/html'))
      return void response.setHeader('content-type', 'text/html').end(pageFor(accounts));
    const refusal = { error: 'access_denied', error_description: 'The user declined.' };
    const result = sub ? { login: { accountId: String(sub) } } : refusal;
    await provider.interactionFinished(request, response, result);
  };
  inner.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/')) void interact(request, response);
    else void handle(request, response);
  });
  front.on('request', (request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    if (override) override(response);
    else pass(request, response, { port, change });
  });

  return {
    ...{ issuer, clientId, clientSecret, accounts, requests },
    /** Acts as a browser in which `sub` signs in, or the user declines (null). Returns the URL to which the browser is sent back. */
    async signIn(location: string, sub: string | null) {
      const cookies = new Map<string, string>();
      let url = new URL(location);
      if (sub !== null) url.searchParams.set('login_hint', sub);
      while (url.origin === issuer) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
        for (const each of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
          if (value) cookies.set(name, value);
          else cookies.delete(name);
        }
        const next = response.headers.get('location');
        if (next === null) throw new Error(`The provider responded with ${response.status}: ${await response.text()}`);
        url = new URL(next, url);
      }
      return url;
    },
    /** Changes the provider's JSON responses, until the next call. */
    tamper: (next: typeof change) => void (change = next),
    /** Responds to every request in this way instead, until the next call. */
    respondWith: (next: typeof override) => void (override = next),
    /** An ID token as this provider would sign it. */
    sign: (claims: JWTPayload) =>
      new SignJWT(claims).setProtectedHeader({ alg: ALG, kid: 'provider-key' }).sign(privateKey),
    /** An ID token that is signed with a shared secret, or not at all. */
    async signWith(claims: JWTPayload, secret: string | undefined) {
      if (secret === undefined) return new UnsecuredJWT(claims).encode();
      return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(secret));
    },
    close: async () => void (await Promise.all(listening.map(({ close }) => close()))),
  };
}

/** Forwards a request and its response, whose JSON `change` may replace. */
function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { port, change }: { port: number; change: Tamper | undefined },
): void {
  const { method, url = '/', headers } = request;
  const respond = async (upstream: IncomingMessage) => {
    const body = await text(upstream);
    const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = upstream.headers;
    const isChanged = change !== undefined && kept['content-type']?.includes('json') === true;
    const changed = isChanged ? JSON.stringify(await change(url.split('?')[0] ?? '', JSON.parse(body) as Json)) : body;
    response.writeHead(upstream.statusCode ?? 500, kept).end(changed);
  };
  const forwarded = httpRequest({ host: '127.0.0.1', port, method, path: url, headers }, (upstream) => {
    respond(upstream).catch(() => response.destroy());
  });
  forwarded.on('error', () => response.destroy());
  request.pipe(forwarded);
}

/** A page on which people choose their account. */
function pageFor(accounts: Map<string, ProviderAccount>): string {
  const links = [...accounts].map(([sub, { email }]) => `<li><a href="?sub=${sub}">${email ?? sub}</a></li>`);
  return `<!doctype html><title>The provider</title><ul>${links.join('')}<li><a href="?sub=">No one</a></li></ul>`;
}
