import { listen } from '@taskmesh/testing';
import { createServer, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ADA, createSignIns, LINKED_IDENTITIES, useSignIn } from './support/provider-sign-in.ts';
import { codeOf } from './support/operations.ts';

const LARGE = JSON.stringify({ padding: 'x'.repeat(10 * 1024 * 1024) });

const { provider, running, begin, resultOf, signedIn, visit } = useSignIn();
/** Another instance, which has not contacted the provider yet. */
beforeEach(async () => {
  await running.auth.stop();
  await running.reset();
});

const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE' };
const failed = { sign_in_error: 'sign_in_failed', sign_in_error_description: expect.any(String) };

const WAYS: [string, (response: ServerResponse) => void][] = [
  ['is broken', (response) => response.writeHead(500).end('{}')],
  ['is another service', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
  ['hangs up', (response) => response.destroy()],
  ['never answers', () => undefined],
  ['never ends', (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"a":"')],
  ['sends ten megabytes', (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(LARGE)],
  [
    'sends ten packed ones',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(gzipSync(LARGE));
    },
  ],
];

describe('an unavailable provider', () => {
  it('prevents only sign-ins through it', async () => {
    provider.respondWith((response) => response.destroy());
    expect(await running.auth.ready()).toMatchObject({ ok: true });
    await expect(begin()).rejects.toMatchObject(UNAVAILABLE);
    expect(await running.auth.ready()).toMatchObject({ ok: true });
    await running.signUp('bob@example.com');
    const { identity } = await running.logIn('bob@example.com');
    expect((await running.send(LINKED_IDENTITIES, {}, identity)).data).toEqual({ linkedIdentities: [] });
    expect((await running.send('{ signInProvider { name } }')).data).toEqual({ signInProvider: { name: 'Example' } });
  });

  it('is retried after growing pauses, one request at a time', async () => {
    provider.respondWith((response) => response.writeHead(500).end());
    const tryNow = async () => {
      const before = provider.requests.length;
      await Promise.allSettled(Array.from({ length: 5 }, () => begin()));
      return provider.requests.length - before;
    };
    const asked = [await tryNow(), await tryNow()];
    for (const pauseMs of [1_000, 1_000, 1_000]) {
      running.clock.advance(-3_600_000); // set back
      running.monotonicClock.advance(pauseMs);
      asked.push(await tryNow());
    }
    expect(asked).toEqual([1, 0, 1, 0, 1]);
    provider.respondWith(undefined);
    running.monotonicClock.advance(60_000);
    await signedIn();
  });

  it('is used with its last known metadata', async () => {
    await signedIn();
    running.monotonicClock.advance(3_600_000);
    provider.respondWith((response) => response.writeHead(500).end());
    expect((await begin()).location).toContain(provider.issuer);
    provider.respondWith(undefined);
    await signedIn();
  });
});

it.each(WAYS)(
  'while a provider %s, sign-ins cannot begin, and those in progress fail and can be repeated',
  async (_what, answer) => {
    const { binding, back } = await visit();
    const another = createSignIns({ ...running, auth: await running.another() }, provider);
    provider.respondWith(answer);
    const [beginning, coming] = await Promise.allSettled([another.begin(), resultOf(binding, back)]);
    expect(beginning).toMatchObject({ reason: UNAVAILABLE });
    expect(coming).toEqual({ status: 'fulfilled', value: failed });
    provider.respondWith(undefined);
    await signedIn();
  },
);

it('a provider without user info signs in linked users by their ID token alone, but no new ones', async () => {
  const { userId } = await signedIn();
  provider.accounts.set('bob', { ...ADA, email: 'bob@example.com' });
  provider.tamper(async (path, body) => {
    if (path === '/me') throw new Error('The endpoint fails.');
    return body;
  });
  expect((await signedIn()).userId).toBe(userId);
  const { binding, back } = await visit('bob');
  expect(await resultOf(binding, back)).toEqual(failed);
});

it('a request to a provider does not follow redirects to another server', async () => {
  const asked: string[] = [];
  const elsewhere = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('{}');
  });
  const { url } = await listen(elsewhere);
  // A redirect is rejected, both for the metadata and for the token.
  provider.respondWith((response) => response.writeHead(302, { location: `${url}/metadata` }).end());
  await expect(begin()).rejects.toMatchObject(UNAVAILABLE);
  provider.respondWith(undefined);
  running.monotonicClock.advance(60_000);
  const { binding, back } = await visit();
  provider.respondWith((response) => response.writeHead(307, { location: `${url}/token` }).end());
  expect(await resultOf(binding, back)).toEqual(failed);
  expect(asked).toEqual([]);
});

it('a request to a provider is not sent to a provider that claims to be another issuer', async () => {
  provider.tamper(async (_path, body) => ({ ...body, issuer: 'https://elsewhere.example' }));
  await expect(begin()).rejects.toMatchObject(UNAVAILABLE);
});

it('without a provider, none is reported, and no sign-in can begin', async () => {
  const auth = await running.another({ OIDC_ISSUER: '', OIDC_CLIENT_ID: '', OIDC_CLIENT_SECRET: '', OIDC_NAME: '' });
  const plain = createSignIns({ ...running, auth }, provider);
  const send = (query: string, variables = {}) =>
    auth.subgraph.execute({ query, variables }, { identity: { role: 'anonymous' }, requestId: 'request-1' });
  expect((await send('{ signInProvider { name } }')).data).toEqual({ signInProvider: null });
  await expect(plain.begin()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(plain.complete('x', { search: '?state=x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const input = { code: 'x'.repeat(43), verifier: 'x'.repeat(43) };
  const query = 'mutation ($input: SignInWithCodeInput!) { signInWithCode(input: $input) { expiresIn } }';
  expect(codeOf(await send(query, { input }))).toBe('BAD_USER_INPUT');
});

it('callers who sign in through the provider are limited separately', async () => {
  const auth = await running.another({ RATE_LIMIT_FACTOR: '1' });
  const limited = createSignIns({ ...running, auth }, provider);
  for (let count = 0; count < 180; count++) await limited.begin();
  await expect(limited.begin()).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) });
  await expect(limited.complete('x', { search: '' })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  const elsewhere = { ip: '198.51.100.7', client: null, requestId: 'request-2' };
  await auth.signIn.begin({ codeChallenge: 'x'.repeat(43) }, elsewhere);
});
