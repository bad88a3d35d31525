import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let gateway: TestGateway;
let page: string;
let loaded: string[];

beforeAll(async () => {
  gateway = await startTestGateway();
  page = await (await get('/graphql', { headers: BROWSER })).text();
  loaded = [...page.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, path]) => path ?? '');
});
afterAll(() => gateway.stop());

const get = (path: string, init?: RequestInit) => fetch(`${gateway.origin}${path}`, init);

describe("a browser's GET of /graphql", () => {
  it('shows a page that runs scripts of this origin only', async () => {
    const response = await get('/graphql', { headers: BROWSER });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    const policy = response.headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'"]));
    expect(page).not.toMatch(/<script>|<style>|style=|onload=|https?:/);
  });

  it('shows the page to HEAD, too', async () => {
    const response = await get('/graphql', { method: 'HEAD', headers: BROWSER });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  });

  it('runs a query that the address has', async () => {
    const response = await get('/graphql?query={__typename}', { headers: BROWSER });
    expect(await response.json()).toEqual({ data: { __typename: 'Query' } });
  });
});

it.each(['application/json, text/html;q=0.9', 'text/html;q=0, */*', '*/*'])(
  'a program that accepts %s gets JSON',
  async (accept) => {
    for (const [path, status] of [
      ['/graphql', 400],
      ['/', 404],
    ] as const) {
      const response = await get(path, { headers: { accept } });
      expect([response.status, response.headers.get('content-type')]).toEqual([
        status,
        'application/json; charset=utf-8',
      ]);
      await response.body?.cancel();
    }
  },
);

describe('what the page loads', () => {
  it('is GraphiQL, and comes from here', async () => {
    expect(loaded.map((path) => path.replace(/^(\/graphql\/assets\/)[\w-]{16}/, '$1…'))).toEqual([
      '/graphql/assets/…/graphiql.css',
      '/graphql/assets/…/explorer.css',
      '/graphql/assets/…/react.js',
      '/graphql/assets/…/react-dom.js',
      '/graphql/assets/…/graphiql.js',
      '/graphql/assets/…/explorer.js',
    ]);
    const texts = await Promise.all(loaded.map(async (path) => (await get(path)).text()));
    expect(texts[0]).toContain('.graphiql-container');
    expect(texts[4]).toContain('GraphiQL=');
    expect(texts[5]).toContain('GraphiQL.createFetcher');
  });

  it('may be kept forever', async () => {
    for (const path of loaded) {
      const { status, headers } = await get(path, { method: 'HEAD' });
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe(`text/${path.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('is measured under names that do not change with its content', async () => {
    const counted = await gateway.metrics.metrics();
    const routes = [...counted.matchAll(/route="(\/graphql\/assets[^"]*)"/g)].map(([, route]) => route);
    expect(new Set(routes)).toEqual(new Set(loaded.map((path) => path.replace(/[\w-]{16}/, ':hash'))));
  });

  it('can only be read, and nothing else stands beside it', async () => {
    const [path = ''] = loaded;
    const post = await get(path, { method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    for (const other of ['/graphql/assets', `${path}.map`])
      expect((await get(other, { headers: BROWSER })).status).toBe(404);
  });

  it('comes from here for a page of another release as well, and is not kept then', async () => {
    for (const path of loaded) {
      const response = await get(path.replace(/[\w-]{16}/, 'x'.repeat(16)));
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(await response.text()).toBe(await (await get(path)).text());
    }
  });
});
