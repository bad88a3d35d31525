import { badUserInput, notFound, rateLimited, unavailable, type AppError } from '@taskmesh/contracts';
import type { RequestOrigin } from '@taskmesh/internal-api';
import type { Connections } from '../src/connections/connections.ts';
import { startTestGateway, useGateway } from './fakes/gateway.ts';

const CHALLENGE = 'c'.repeat(43);
/** The binding that a browser keeps while it is at the provider. */
const BINDING = 'state.nonce.verifier';
const NOT_BEGUN = badUserInput([{ path: 'state', message: 'It was not begun here.' }]);

/** The calls to auth, and the error of the next one. */
const calls: { input: object; origin: RequestOrigin }[] = [];
let failure: Error | undefined;

const called = (input: object, origin: RequestOrigin) => {
  const error = failure;
  failure = undefined;
  if (error) throw error;
  calls.push({ input, origin });
};
const signIn: Connections['signIn'] = {
  async begin(input, origin) {
    called(input, origin);
    return { location: 'https://login.example/authorize?state=state', binding: BINDING };
  },
  async complete(input, origin) {
    called(input, origin);
    if (input.binding !== BINDING) throw NOT_BEGUN;
    return { location: '/tasks#sign_in_code=code-of-the-provider' };
  },
};
const withProvider = (connections: Connections): Connections => ({ ...connections, signIn });

const gateway = useGateway({ env: { PUBLIC_URL: 'https://tasks.example.com' }, wrap: withProvider });

describe('a browser whose sign-in fails', () => {
  const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', cookie: `__Host-taskmesh-sign-in=${BINDING}` };
  const CALLBACK = '/api/auth/oidc/callback';
  const STEPS = [
    `/api/auth/oidc/start?code_challenge=${CHALLENGE}`,
    `${CALLBACK}?code=a&state=state`,
    '/full/api/auth/oidc/callback?code=a&state=state',
    '/reduced/api/auth/oidc/callback?error=access_denied&state=state',
  ];
  const visit = async (path: string, headers: Record<string, string> = BROWSER, method = 'GET') => {
    const response = await fetch(gateway.origin + path, { method, headers, redirect: 'manual' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const about = (headers: Headers) => `If that does not help, ask about request ${headers.get('x-request-id')}.`;
  /** The text that a person reads there. */
  const wordsOf = (page: string) =>
    page
      .replace(/^.*<main[^>]*>/s, '')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();

  it.each<[number, Error, string]>([
    [400, NOT_BEGUN, 'It was not begun here.'],
    [404, notFound('No sign-in provider is configured.'), 'No sign-in provider is configured.'],
    [429, rateLimited(300), 'That was tried too often. Wait 5 minutes, then start again.'],
    [503, unavailable('The sign-in provider cannot be reached.'), 'The sign-in provider cannot be reached.'],
  ])('gets the reason on a page, with a link back: %s', async (status, error, words) => {
    failure = error;
    const response = await visit(STEPS[1] ?? '');
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
    const more = status === 503 ? ` ${about(response.headers)}` : '';
    expect(wordsOf(response.text)).toBe(`Taskmesh The sign-in did not work ${words}${more} Start again`);
    expect(response.text).toContain('<a href="/">');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { retryAfterSeconds = null } = error as AppError;
    expect(response.headers.get('retry-after')).toBe(retryAfterSeconds && String(retryAfterSeconds));
    expect(response.headers.getSetCookie()).toEqual([]); // the browser may still return from the provider
  });

  it.each(STEPS)('gets only the request id of a defect at %s; programs get JSON', async (path) => {
    failure = unavailable(undefined, new Error('a secret of the inside'));
    const { status, text, headers } = await visit(path);
    expect([status, headers.get('vary')]).toEqual([503, expect.stringContaining('Accept')]);
    expect(wordsOf(text)).toContain(`not available right now; try again. ${about(headers)} Start again`);
    expect(text).not.toContain('secret');
    for (const accept of ['*/*', '']) {
      failure = unavailable('away');
      const response = await visit(path, { accept, cookie: BROWSER.cookie });
      expect([response.status, JSON.parse(response.text)]).toEqual([
        503,
        { message: 'away', error: { code: 'SERVICE_UNAVAILABLE', requestId: response.headers.get('x-request-id') } },
      ]);
      expect(response.headers.get('vary')).toContain('Accept');
    }
  });

  it('cannot be made to show or run content from an address or an error', async () => {
    failure = badUserInput([{ path: 'state', message: '<script>alert("{reason}$&")</script>' }]);
    const { text, headers } = await visit(`${CALLBACK}?error_description=<b>call+this+number</b>&state=state`);
    expect(text).toContain('&#60;script&#62;alert(&#34;{reason}$&#38;&#34;)&#60;/script&#62;');
    expect(text).not.toContain('call this number');
    expect(headers.get('content-security-policy')?.split('; ')).toEqual(
      expect.arrayContaining(["default-src 'none'", "style-src 'self'", "frame-ancestors 'none'"]),
    );
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    const [file = ''] = /\/failed-sign-in\/assets\/[\w-]+\/look\.css/.exec(text) ?? [];
    expect((await visit(file)).headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(text.match(/https?:|<script|<style|style=/g)).toEqual(null);
  });

  it('gets the page without its cookie, also for HEAD, and other responses are unchanged', async () => {
    const { accept } = BROWSER;
    const step = `${CALLBACK}?code=a&state=state`;
    for (const [path, words] of [
      [step, 'It was not begun here.'],
      ['/api/auth/oidc/start?code_challenge=short', 'code_challenge must be'],
    ] as const) {
      // prettier-ignore
      const page = await visit(path, { accept });
      expect([page.status, wordsOf(page.text)]).toEqual([400, expect.stringContaining(words)]);
    }
    const head = await visit(step, { accept }, 'HEAD');
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([400, '', 'text/html; charset=utf-8']);
    const statusFrom = async (site: string) =>
      (await visit(STEPS[0] ?? '', { ...BROWSER, 'sec-fetch-site': site })).status;
    expect([await statusFrom('cross-site'), await statusFrom('same-site')]).toEqual([403, 302]);
    expect((await visit(step)).status).toBe(302);
    const other = await visit('/api/auth/profile', { accept });
    expect([other.status, JSON.parse(other.text).error.code]).toEqual([401, 'UNAUTHENTICATED']);
    const post = await visit(CALLBACK, { accept }, 'POST');
    expect([post.status, JSON.parse(post.text).error.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
  });
});

it("passes on the client's address and user agent; without TLS the cookie has a name that browsers accept", async () => {
  calls.length = 0;
  const plain = await startTestGateway({ wrap: withProvider });
  const at = (path: string, more: Record<string, string>) => {
    const headers = { 'user-agent': 'a browser', ...more };
    return fetch(`${plain.origin}/api/auth/oidc${path}`, { redirect: 'manual', headers });
  };
  const begun = await at(`/start?return_to=/tasks&code_challenge=${CHALLENGE}`, {});
  expect(begun.headers.getSetCookie()).toEqual([
    `taskmesh-sign-in=${BINDING}; Max-Age=600; Path=/; HttpOnly; SameSite=Lax`,
  ]);
  const ended = await at('/callback?code=a%2Bb&state=state&iss=x', { cookie: `a=b; taskmesh-sign-in=${BINDING}` });
  const own = { ip: '127.0.0.1', client: 'a browser' };
  const originOf = ({ headers }: Response) => ({ ...own, requestId: headers.get('x-request-id') });
  expect(calls).toEqual([
    { input: { returnTo: '/tasks', codeChallenge: CHALLENGE }, origin: originOf(begun) },
    { input: { binding: BINDING, search: 'code=a%2Bb&state=state&iss=x' }, origin: originOf(ended) },
  ]);
});
