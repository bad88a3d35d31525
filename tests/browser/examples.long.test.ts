import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { createFaultyProxy, type FaultyProxy } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRest, type Rest } from '../clients/http.ts';
import { startChromium, type Chromium } from './chromium.ts';
import { serveExamples, useExample } from './example-page.ts';

const PASSWORD = 'correct horse battery staple';

describe('the example page in a real browser', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-browser-'));
  let examples: Awaited<ReturnType<typeof serveExamples>>;
  let platform: Embedded;
  let network: FaultyProxy;
  let chromium: Chromium;
  let rest: Rest;

  beforeAll(async () => {
    examples = await serveExamples();
    platform = await startEmbedded({
      env: { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', CORS_ORIGINS: examples.origin },
      progress: () => {},
    });
    const { hostname: host, port } = new URL(platform.url);
    network = await createFaultyProxy({ host, port: Number(port) });
    rest = createRest(platform.url);
    chromium = await startChromium();
  }, 300_000);
  afterAll(async () => {
    await chromium.stop();
    await network.close();
    await platform.stop();
    await examples.stop();
    rmSync(dataDir, { recursive: true });
  }, 180_000);

  /** Opens the page, which reaches the platform through the network that can be cut. */
  const open = (protocol: string) => {
    const query = new URLSearchParams({ protocol, url: `http://${network.host}:${network.port}` });
    return chromium.open(`${examples.origin}/?${query}`);
  };
  const login = async (email: string) => {
    const { body } = await rest<{ access_token: string }>('POST', '/auth/login', {
      body: { email, password: PASSWORD },
    });
    return body.access_token;
  };

  it.each(['graphql-ws', 'sse', 'multipart', 'supabase'])(
    'shows what happens over %s, and misses nothing while its connection is cut',
    async (protocol) => {
      const email = `${randomUUID()}@example.com`;
      const page = await open(protocol);
      const { type, click, shows } = useExample(page);
      await type('[name=email]', email);
      await type('[name=password]', PASSWORD);
      await click('[value=signup]');
      await shows({ state: 'live', tasks: [], changes: [] });

      // One from the page itself, others from somewhere else.
      await type('[name=title]', 'from the page');
      await click('#new-task button');
      await shows({ tasks: ['from the page'], changes: ['INSERT from the page'] });
      const token = await login(email);
      const create = async (title: string) =>
        (await rest<{ data: { id: string } }>('POST', '/tasks', { token, body: { title } })).body.data.id;
      const first = await create('one');
      await shows({ tasks: ['one', 'from the page'] });

      await network.cut();
      await shows({ state: 'reconnecting' });
      await create('two');
      await rest('PATCH', `/tasks/${first}`, { token, body: { title: 'one, changed' } });
      await rest('DELETE', `/tasks/${await create('three')}`, { token });
      await shows({ state: 'reconnecting', tasks: ['one', 'from the page'] });
      await network.restore();
      await shows({ state: 'live', tasks: ['two', 'one, changed', 'from the page'] }, 30_000);
      await create('four');
      await shows({
        changes: [
          'INSERT from the page',
          'INSERT one',
          'INSERT two',
          'UPDATE one, changed',
          'INSERT three',
          'DELETE three',
          'INSERT four',
        ],
      });

      await click('#sign-out');
      await shows({ state: 'signed out' });
      expect(page.problems).toEqual([]);
      await page.close();
    },
    90_000,
  );

  it('starts with the list that is there, and says what is wrong with a password', async () => {
    const email = `${randomUUID()}@example.com`;
    const { body } = await rest<{ access_token: string }>('POST', '/auth/signup', {
      body: { email, password: PASSWORD, name: 'Ada' },
    });
    for (const title of ['first', 'second'])
      await rest('POST', '/tasks', { token: body.access_token, body: { title } });
    const page = await open('sse');
    const { type, click, shows } = useExample(page);
    await type('[name=email]', email);
    await type('[name=password]', 'not the right one');
    await click('[value=login]');
    await shows({ state: 'signed out', error: 'Wrong e-mail or password.', tasks: [] });
    await type('[name=password]', PASSWORD);
    await click('[value=login]');
    await shows({ state: 'live', error: '', tasks: ['second', 'first'], changes: [] });

    await type('[name=title]', 'no');
    await click('#new-task button');
    await shows({ state: 'live', error: 'title must have 3 to 255 characters.' });
    await type('[name=title]', 'third');
    await click('#new-task button');
    await shows({ state: 'live', error: '', tasks: ['third', 'second', 'first'] });
    await page.close();
  }, 180_000);
});
