import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { useGateway } from './fakes/gateway.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
/** The bytes that a first visit of the console may load, as sent. */
const MAX_BYTES = 80 * 1024;
const YEAR = 'public, max-age=31536000, immutable';
const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

const PAGES: Record<string, { files: string[]; policy?: string[] }> = {
  '/': { files: ['icon.svg', 'style.css', 'console.js'], policy: ["img-src 'self'"] },
  '/graphql': {
    files: ['graphiql.css', 'explorer.css', 'react.js', 'react-dom.js', 'graphiql.js', 'explorer.js'],
    policy: ['font-src data:', 'img-src data:'],
  },
  '/api/docs': {
    files: ['swagger-ui.css', 'api-reference.css', 'swagger-ui.js', 'api-reference.js'],
    policy: ['img-src data:'],
  },
  '/reset-password': { files: ['look.css', 'token-form.js'] },
  '/confirm-email': { files: ['look.css', 'token-form.js'] },
};

const HEADERS = {
  ...{ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' },
  ...{ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
};

const gateway = useGateway();

const get = (path: string, init?: RequestInit) => fetch(`${gateway.origin}${path}`, init);
const pageAt = async (path: string) => (await get(path, { headers: BROWSER })).text();
const filesOf = (page: string) =>
  [...page.matchAll(/<(?:link|script)\s[^>]*(?:src|href)="(?!data:)([^"]+)"/g)].map(([, path = '']) => path);

/** Returns the bytes as sent: `fetch` would decode them. */
async function load(path: string, headers: Record<string, string>) {
  const response = await request(`${gateway.origin}${path}`, { headers });
  return { headers: response.headers, bytes: Buffer.from(await response.body.arrayBuffer()) };
}

describe.each(Object.entries(PAGES))('the page %s', (path, { files, policy = [] }) => {
  it('is never outdated, and runs only its own scripts', async () => {
    const { status, headers } = await get(path, { headers: BROWSER });
    expect([status, Object.fromEntries(headers)]).toMatchObject([200, HEADERS]);
    expect(headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      path === '/graphql' ? "style-src 'self' 'unsafe-inline'" : "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      ...policy,
    ]);
    expect(await pageAt(path)).not.toMatch(/<script>|<style>|style=|onload=|onclick=|https?:/);
    const head = await get(path, { method: 'HEAD', headers: BROWSER });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('loads its files from this origin, under URLs that may be cached forever', async () => {
    const base = path === '/' ? '' : path;
    const loaded = filesOf(await pageAt(path));
    expect(loaded.map((file) => file.replace(/[\w-]{16}/, '…'))).toEqual(
      files.map((name) => `${base}/assets/…/${name}`),
    );
    for (const file of loaded) {
      const response = await get(file);
      const type = TYPES[file.split('.').at(-1) ?? ''];
      const expected = { 'content-type': type, 'cache-control': YEAR, 'x-content-type-options': 'nosniff' };
      expect(Object.fromEntries(response.headers)).toMatchObject(expected);
      const text = await response.text();
      expect(text.length).toBeGreaterThan(0);
      // A page of another release gets this file, too, but does not keep it.
      const other = await get(file.replace(/[\w-]{16}/, 'AAAAAAAAAAAAAAAA'));
      expect([other.status, other.headers.get('cache-control'), await other.text()]).toEqual([200, 'no-store', text]);
      const post = await get(file, { method: 'POST' });
      expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
    const routes = [...(await gateway.metrics.metrics()).matchAll(/route="([^"]*)"/g)].map(([, route = '']) => route);
    expect(routes).toEqual(expect.arrayContaining(loaded.map((file) => file.replace(/[\w-]{16}/, ':hash'))));
    expect((await get(`${base}/assets/AAAAAAAAAAAAAAAA/other.js`)).status).toBe(404);
  });
});

it.each(['application/json, text/html;q=0.9', 'text/html;q=0, */*', '*/*'])(
  'a program that accepts %s gets JSON where browsers get a page',
  async (accept) => {
    for (const [path, status] of Object.entries({ '/graphql': 400, '/': 404 })) {
      const { status: seen, headers } = await get(path, { headers: { accept } });
      expect([seen, headers.get('content-type')]).toEqual([status, 'application/json; charset=utf-8']);
      if (path === '/') expect(headers.get('vary')).toBe('Origin, Accept');
    }
  },
);

it("a browser's GET of /graphql runs the query in the URL", async () => {
  const response = await get('/graphql?query={__typename}', { headers: BROWSER });
  expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
});

it('browsers and password managers find their well-known URLs', async () => {
  const { status, headers } = await get('/.well-known/change-password', { redirect: 'manual' });
  expect([status, headers.get('location')]).toEqual([303, '/#/account']);
  expect((await get('/favicon.ico')).status).toBe(204);
});

describe('the console', () => {
  it('loads no more than 80 KiB at first', async () => {
    const headers = { ...BROWSER, 'accept-encoding': 'gzip, br' };
    const paths = ['/', ...filesOf(await pageAt('/'))];
    const sizes = await Promise.all(paths.map(async (path) => (await load(path, headers)).bytes.length));
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(MAX_BYTES);
  });

  it('has the licence notices of the bundled libraries in its script', async () => {
    const script = await (await get(filesOf(await pageAt('/')).at(-1) ?? '')).text();
    expect(script).toMatch(
      /^\/\*! preact \d+\.\d+\.\d+\n\nThe MIT License \(MIT\)\n\nCopyright \(c\) 2015-present Jason Miller/,
    );
    expect(script).toContain('The above copyright notice and this permission notice shall be included in all');
    expect(script.match(/^\/\*! /gm)).toHaveLength(1); // it is the only library
  });

  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['BR;q=0.5, gzip', 'br'],
    ['gzip, br;q=0', 'gzip'],
    ['*', 'br'],
    ['br;q=0, gzip;q=0.000', undefined],
    ['', undefined],
  ])('sends its script to clients that accept "%s" as %s', async (accepted, coding) => {
    const script = filesOf(await pageAt('/')).at(-1) ?? '';
    const plain = await load(script, {});
    const { headers, bytes } = await load(script, { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(coding);
    expect(headers['vary']).toBe('Origin, Accept-Encoding');
    const decode = { br: brotliDecompressSync, gzip: gunzipSync }[coding ?? ''] ?? ((same: Buffer) => same);
    expect(decode(bytes).equals(plain.bytes)).toBe(true);
    expect(Number(headers['content-length'])).toBe(bytes.length);
  });
});

it.each(['reset-password', 'confirm-email'])(
  'the form of /%s has every element that its script works on',
  async (name) => {
    const page = await pageAt(`/${name}`);
    const script = await (await get(filesOf(page)[1] ?? '')).text();
    expect(page).toContain(`data-action="/api/auth/${name}"`);
    expect(page).toContain(`autocomplete="${name === 'reset-password' ? 'new' : 'current'}-password"`);
    const ids = [...script.matchAll(/byId\('([^']+)'\)(?!\?)/g)].flatMap(([, id]) => (id === 'password' ? [] : [id]));
    expect(new Set(ids).size).toBeGreaterThan(4);
    const fields = /data-fields="([^"]+)"/.exec(page)?.[1]?.split(' ') ?? [];
    expect(fields[0]).toBe('token');
    for (const id of [...ids, ...fields, ...[...fields, 'form'].map((field) => `${field}-error`)])
      expect(page).toContain(`id="${id}"`);
  },
);

/** The headers of browsers when a person opens an address, on a host that they trust and on any other. */
const NAVIGATIONS: Record<string, string>[] = [
  { ...BROWSER, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'upgrade-insecure-requests': '1' },
  { ...BROWSER, 'sec-fetch-mode': 'navigate' },
  { ...BROWSER, 'upgrade-insecure-requests': '1' },
];
const VARY = 'Origin, Accept, Sec-Fetch-Mode, Upgrade-Insecure-Requests';
const NOTHING = JSON.stringify({ message: 'There is nothing at this path.', error: { code: 'NOT_FOUND' } });
const JSON_404 = { status: 404, type: 'application/json; charset=utf-8', text: NOTHING };

async function visit(path: string, headers: Record<string, string>, method: 'GET' | 'HEAD' | 'POST' = 'GET') {
  const { statusCode, headers: received, body } = await request(gateway.origin + path, { method, headers });
  return { status: statusCode, headers: received, type: received['content-type'], text: await body.text() };
}

describe.each(NAVIGATIONS)('a browser in which a person opens an address (%j)', (headers) => {
  it('gets a page at unknown paths', async () => {
    for (const path of ['/taks', '/graphql/x', '/%', '/apiary', '/api%', '/full', '/tasks?next=/api/tasks']) {
      const { status, type, text, headers: received } = await visit(path, headers);
      expect([path, status, type, received['vary']]).toEqual([path, 404, 'text/html; charset=utf-8', VARY]);
      expect(text).toMatch(/<h1>There is nothing at this address<\/h1>[^]*<a href="\/">/);
      expect(received['x-request-id']).toEqual(expect.any(String));
    }
  });

  it('gets JSON at those that belong to the API', async () => {
    for (const path of ['/api', '/api/taks', '/api?x', '/full/api/taks', '/reduced/api', '/api/tasks/%'])
      expect(await visit(path, headers)).toMatchObject({ ...JSON_404, headers: { vary: 'Origin' } });
  });
});

it('a browser gets a page that does not repeat the address, and none for HEAD', async () => {
  const { text } = await visit('/%3Cb%3Enothing%3C/b%3E', NAVIGATIONS[0] ?? {});
  expect(text).not.toMatch(/nothing<|%3C/);
  const [file = ''] = /\/unknown-path\/assets\/[\w-]+\/look\.css/.exec(text) ?? [];
  expect((await visit(file, {})).status).toBe(200);
  const head = await visit('/taks', NAVIGATIONS[0] ?? {}, 'HEAD');
  expect([head.status, head.type, head.text]).toEqual([404, 'text/html; charset=utf-8', '']);
});

it('programs get JSON at an unknown path, and so does a form that a page submits', async () => {
  const OF_PROGRAMS: Record<string, string>[] = [
    ...[{}, { accept: 'application/json' }, { accept: 'text/html' }],
    ...[
      { ...BROWSER, 'sec-fetch-mode': 'cors' },
      { accept: '*/*', 'sec-fetch-mode': 'navigate' },
    ],
  ];
  for (const headers of OF_PROGRAMS)
    expect(await visit('/taks', headers)).toMatchObject({ ...JSON_404, headers: { vary: VARY } });
  expect(await visit('/taks', NAVIGATIONS[0] ?? {}, 'POST')).toMatchObject(JSON_404);
});
