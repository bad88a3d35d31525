import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
/** What a first visit may load, as it is sent. */
const MAX_BYTES = 80 * 1024;

let gateway: TestGateway;
let page: string;
let files: string[];

beforeAll(async () => {
  gateway = await startTestGateway();
  page = await (await get('/', { headers: BROWSER })).text();
  files = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].flatMap(([, path]) => path ?? []);
});
afterAll(() => gateway.stop());

const get = (path: string, init?: RequestInit) => fetch(`${gateway.origin}${path}`, init);

/** The bytes that are sent, as they are: `fetch` would undo their coding. */
async function load(path: string, headers: Record<string, string>) {
  const response = await request(`${gateway.origin}${path}`, { headers });
  return { headers: response.headers, bytes: Buffer.from(await response.body.arrayBuffer()) };
}

describe('the console', () => {
  it('has the page that password managers look for', async () => {
    const { status, headers } = await get('/.well-known/change-password', { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([303, '/#/account']);
  });

  it('has no icon at the address that browsers guess, and says so without an error', async () => {
    expect((await get('/favicon.ico')).status).toBe(204);
  });

  it('is at / for browsers, never out of date, and runs nothing but its own scripts', async () => {
    const response = await get('/', { headers: BROWSER });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('vary')).toBe('Origin, Accept');
    expect(response.headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self'",
    ]);
    expect(page).not.toMatch(/<script>|<style>|style=|onload=|https?:/);
    const head = await get('/', { method: 'HEAD', headers: BROWSER });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it.each([[{}], [{ accept: 'application/json' }], [{ accept: '*/*' }]])(
    'is not there for programs: %j',
    async (headers) => {
      const response = await get('/', { headers });
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response.headers.get('vary')).toBe('Origin, Accept');
      expect(await response.json()).toMatchObject({ error: { code: 'NOT_FOUND' } });
    },
  );

  it('loads its script, style sheet and icon from here, under addresses that are kept forever', async () => {
    expect(files.map((path) => path.replace(/[\w-]{16}/, '…'))).toEqual([
      '/assets/…/icon.svg',
      '/assets/…/style.css',
      '/assets/…/console.js',
    ]);
    const types = ['image/svg+xml', 'text/css; charset=utf-8', 'text/javascript; charset=utf-8'];
    for (const [index, path] of files.entries()) {
      const response = await get(path);
      expect(response.headers.get('content-type')).toBe(types[index]);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
  });

  it('gives its own files to the page of another release, which no one may keep under that address', async () => {
    for (const path of files) {
      const own = await get(path);
      const other = await get(path.replace(/[\w-]{16}/, 'AAAAAAAAAAAAAAAA'));
      expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(other.headers.get('content-type')).toBe(own.headers.get('content-type'));
      expect(await other.text()).toBe(await own.text());
    }
    expect((await get('/assets/AAAAAAAAAAAAAAAA/other.js')).status).toBe(404);
  });

  it('loads no more than 80 KiB at first', async () => {
    const sizes = await Promise.all(
      ['/', ...files].map(
        async (path) => (await load(path, { ...BROWSER, 'accept-encoding': 'gzip, br' })).bytes.length,
      ),
    );
    console.log(`The console's first load: ${sizes.join(' + ')} bytes.`);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(MAX_BYTES);
  });
});

describe('a compressed file', () => {
  const script = () => files.at(-1) ?? '';

  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['BR;q=0.5, gzip', 'br'],
    ['gzip', 'gzip'],
    ['gzip, br;q=0', 'gzip'],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, gzip;q=0.000', undefined],
    ['identity', undefined],
    ['zstd', undefined],
    ['', undefined],
  ])('is sent to who takes %j as %s', async (accepted, coding) => {
    const plain = await load(script(), {});
    const { headers, bytes } = await load(script(), { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(coding);
    expect(headers['vary']).toBe('Origin, Accept-Encoding');
    const decode = { br: brotliDecompressSync, gzip: gunzipSync }[coding ?? ''] ?? ((same: Buffer) => same);
    expect(decode(bytes).equals(plain.bytes)).toBe(true);
    expect(Number(headers['content-length'])).toBe(bytes.length);
  });
});
