import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { eventually } from '@taskmesh/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChromium, type Chromium } from './chromium.ts';

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
  }, 180_000);

  it('the API reference shows every endpoint', async () => {
    const page = await chromium.open(`${platform.url}/api/docs`);
    const { paths } = (await (await fetch(`${platform.url}/api/openapi.json`)).json()) as { paths: object };
    const endpoints = Object.values(paths).flatMap((methods: object) => Object.keys(methods));
    expect(endpoints.length).toBeGreaterThan(20);
    const shown = () => page.evaluate<number>(`document.querySelectorAll('.opblock').length`);
    await eventually(async () => expect(await shown()).toBe(endpoints.length), patience);
    expect(page.problems).toEqual([]);
    await page.close();
  }, 120_000);

  it('the explorer shows its editors', async () => {
    const page = await chromium.open(`${platform.url}/graphql`);
    const editors = () =>
      page.evaluate<number>(`document.querySelectorAll('.graphiql-container .graphiql-editor').length`);
    await eventually(async () => expect(await editors()).toBeGreaterThan(1), patience);
    expect(page.problems).toEqual([]);
    await page.close();
  }, 120_000);

  it('the page for a new password tells what is wrong with a token', async () => {
    const page = await chromium.open(`${platform.url}/reset-password`);
    await page.evaluate(`document.getElementById('token').value = 'nonsense'`);
    await page.evaluate(`document.getElementById('password').value = 'correct horse battery staple'`);
    await page.evaluate(`document.getElementById('send').click()`);
    const told = () => page.evaluate<string>(`document.getElementById('form').innerText`);
    await eventually(async () => expect(await told()).toMatch(/not valid/), patience);
    expect(page.problems).toEqual([]);
    await page.close();
  }, 120_000);
});
