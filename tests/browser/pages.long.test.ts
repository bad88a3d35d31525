import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { eventually } from '@taskmesh/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChromium, type Chromium } from './chromium.ts';

interface OpenApi {
  paths: Record<
    '/api/auth/signup',
    { post: { requestBody: { content: { 'application/json': { example: { email: string; password: string } } } } } }
  >;
}

/** What a look at a page may take on a busy machine. */
const patience = { timeoutMs: 30_000 };

describe('the pages of the gateway in a real browser', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-pages-'));
  let platform: Embedded;
  let chromium: Chromium;

  beforeAll(async () => {
    platform = await startEmbedded({ env: { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' }, progress: () => {} });
    chromium = await startChromium();
  }, 300_000);
  afterAll(async () => {
    await chromium.stop();
    await platform.stop();
    rmSync(dataDir, { recursive: true });
  });

  it('the API reference shows every endpoint', async () => {
    const page = await chromium.open(`${platform.url}/api/docs`);
    const { paths } = (await (await fetch(`${platform.url}/api/openapi.json`)).json()) as { paths: object };
    const endpoints = Object.values(paths).flatMap((methods: object) => Object.keys(methods));
    expect(endpoints.length).toBeGreaterThan(20);
    const shown = () => page.evaluate<number>(`document.querySelectorAll('.opblock').length`);
    await eventually(async () => expect(await shown()).toBe(endpoints.length), patience);
    expect(page.problems).toEqual([]);
    await page.close();
  });

  it('the API reference tries an endpoint, with its example', async () => {
    const page = await chromium.open(`${platform.url}/api/docs`);
    const has = async (expression: string) => expect(await page.evaluate<boolean>(expression)).toBe(true);
    const block = `document.querySelector('[id$="-signUp"]')`;
    await eventually(() => has(`${block} !== null`), patience);
    await page.evaluate(`${block}.querySelector('.opblock-summary-control').click()`);
    await eventually(() => has(`${block}.querySelector('.execute') !== null`), patience);
    await page.evaluate(`${block}.querySelector('.execute').click()`);
    const status = `${block}.querySelector('.live-responses-table .response .response-col_status')`;
    await eventually(() => has(`${status}?.innerText.trim() === '201'`), patience);
    expect(page.problems).toEqual([]);
    await page.close();
    const { paths } = (await (await fetch(`${platform.url}/api/openapi.json`)).json()) as OpenApi;
    const { email, password } = paths['/api/auth/signup'].post.requestBody.content['application/json'].example;
    const response = await fetch(`${platform.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    expect(response.status).toBe(200);
  });

  it('the explorer shows its editors', async () => {
    const page = await chromium.open(`${platform.url}/graphql`);
    const editors = () =>
      page.evaluate<number>(`document.querySelectorAll('.graphiql-container .graphiql-editor').length`);
    await eventually(async () => expect(await editors()).toBeGreaterThan(1), patience);
    expect(page.problems).toEqual([]);
    await page.close();
  });

  it('an address where nothing is shows a page that leads to the console', async () => {
    const page = await chromium.open(`${platform.url}/taks?x#/y`);
    expect(await page.evaluate(`document.querySelector('h1').innerText`)).toBe('There is nothing at this address');
    expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).maxWidth`)).not.toBe('none');
    await page.evaluate(`document.querySelector('a').click()`);
    await eventually(async () => expect(await page.evaluate(`location.pathname`)).toBe('/'), patience);
    await eventually(async () => expect(await page.evaluate(`document.title`)).toBe('Taskmesh'), patience);
    expect(page.problems).toEqual([]);
    await page.close();
  });

  it('/confirm-email needs the password of the account, and says what is wrong where it is wrong', async () => {
    const page = await chromium.open(`${platform.url}/confirm-email#token=nonsense`);
    const text = (id: string) => page.evaluate<string>(`document.getElementById('${id}').innerText`);
    const isOn = (id: string) => page.evaluate<boolean>(`document.activeElement.id === '${id}'`);
    const patiently = (look: () => Promise<void>) => eventually(look, patience);
    await patiently(async () => expect(await isOn('password')).toBe(true));
    await page.evaluate(`document.getElementById('send').click()`);
    await patiently(async () => expect(await text('password-error')).toMatch(/^Enter the password/));
    expect(await isOn('password')).toBe(true);
    expect(await page.evaluate(`document.getElementById('password').ariaInvalid`)).toBe('true');
    expect(await page.evaluate(`document.getElementById('in-account').getAttribute('href')`)).toBe(
      '/#/account?token=nonsense',
    );
    await page.evaluate(`document.getElementById('password').value = 'a guess'`);
    await page.evaluate(`document.getElementById('send').click()`);
    await patiently(async () => expect(await text('token-error')).toMatch(/not valid/));
    expect(await text('password-error')).toBe('');
    expect(page.problems).toEqual([]);
    await page.close();
  });

  it.each(['/reset-password', '/confirm-email'])('%s reports what is wrong with a token', async (path) => {
    const page = await chromium.open(`${platform.url}${path}`);
    await page.evaluate(`document.getElementById('token').value = 'nonsense'`);
    const password = `document.getElementById('password')`;
    await page.evaluate(`${password} && (${password}.value = 'correct horse battery staple')`);
    await page.evaluate(`document.getElementById('send').click()`);
    const shown = () => page.evaluate<string>(`document.getElementById('form').innerText`);
    await eventually(async () => expect(await shown()).toMatch(/^Token is not valid/m), patience);
    expect(page.problems).toEqual([]);
    await page.close();
  });
});
