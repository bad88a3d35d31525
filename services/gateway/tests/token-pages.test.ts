import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

/** What a page loads. */
const filesOf = (page: string) =>
  [...page.matchAll(/<(?:link|script)\s[^>]*(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);

const get = (path: string, init?: RequestInit) => fetch(`${gateway.origin}${path}`, init);

it('asks for a new password as browsers know it', async () => {
  const page = await (await get('/reset-password')).text();
  expect(page).toMatch(/<input\s+id="password"[^>]*type="password"[^>]*autocomplete="new-password"/);
});

it('asks for the password of the account whose address is to be confirmed, or leads to it', async () => {
  const page = await (await get('/confirm-email')).text();
  expect(page).toMatch(/<input\s+id="password"[^>]*type="password"[^>]*autocomplete="current-password"[^>]*required/);
  expect(page).toContain('<a id="in-account" href="/#/account">');
});

describe.each(['reset-password', 'confirm-email'])('the page /%s', (name) => {
  it('asks for what the mail says on a page that loads nothing from elsewhere', async () => {
    const response = await get(`/${name}`);
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page).toContain('<form id="form"');
    expect(page).toContain(`data-action="/api/auth/${name}"`);
    expect(page).not.toMatch(/<script>|<style>|style=|onclick=|https?:/);
    expect(page).toContain('<a href="/">');
    expect(filesOf(page).map((path) => path.replace(/[\w-]{16}/, '…'))).toEqual([
      `/${name}/assets/…/look.css`,
      `/${name}/assets/…/token-form.js`,
    ]);
  });

  it('lets nothing else in by its policy, and can only be read', async () => {
    const response = await get(`/${name}`);
    expect(response.headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    for (const path of [`/${name}`, ...filesOf(await response.text())]) {
      const head = await get(path, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      const post = await get(path, { method: 'POST', body: 'token=x' });
      expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });

  it('finds in the page every element that the script works on', async () => {
    const page = await (await get(`/${name}`)).text();
    const script = await (await get(filesOf(page)[1] ?? '')).text();
    const ids = [...script.matchAll(/byId\('([^']+)'\)(?!\?)/g)].flatMap(([, id]) => (id === 'password' ? [] : [id]));
    expect(new Set(ids).size).toBeGreaterThan(4);
    const fields = /data-fields="([^"]+)"/.exec(page)?.[1]?.split(' ') ?? [];
    expect(fields[0]).toBe('token');
    for (const id of [...ids, ...fields, ...[...fields, 'form'].map((field) => `${field}-error`)])
      expect(page).toContain(`id="${id}"`);
  });
});
