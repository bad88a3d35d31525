import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRest, newAccount } from '../http.ts';
import { startChromium, type Chromium } from './chromium.ts';

/** Outside it, pages of any loopback origin may call, as both are here. */
const PRODUCTION = { NODE_ENV: 'production', BACKUP_TOKEN: 'b'.repeat(40) };

/** What a page of somebody else does: signs in, reads the list, and follows it over SSE and a WebSocket. */
const USE = async (url: string, account: object) => {
  const json = { 'content-type': 'application/json' };
  const signedIn = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify(account),
  });
  const { access_token: token } = (await signedIn.json()) as { access_token: string };
  const headers = { ...json, authorization: `Bearer ${token}` };
  const graphql = (query: string, more = {}) =>
    fetch(`${url}/graphql`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ query }) });
  const list = (await (await graphql('{ tasks { changesCursor } }')).json()) as {
    data: { tasks: { changesCursor: string } };
  };
  const stream = await graphql('subscription { taskChanges { kind } }', {
    accept: 'text/event-stream',
    'last-event-id': list.data.tasks.changesCursor,
  });
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const opened = await new Promise((resolve) => {
    socket.onopen = () => resolve('open');
    socket.onclose = () => resolve('closed');
  });
  return [stream.headers.get('content-type'), opened];
};

/** An empty page, at an origin of its own. */
async function servePage(): Promise<{ origin: string; server: Server }> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>A page</title>');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  return { origin: `http://127.0.0.1:${port}`, server };
}

describe('a page of another origin in a real browser', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-origins-'));
  const account = newAccount();
  let allowed: Awaited<ReturnType<typeof servePage>>;
  let foreign: Awaited<ReturnType<typeof servePage>>;
  let platform: Embedded;
  let chromium: Chromium;

  beforeAll(async () => {
    allowed = await servePage();
    foreign = await servePage();
    platform = await startEmbedded({
      env: { ...PRODUCTION, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', CORS_ORIGINS: allowed.origin },
      progress: () => {},
    });
    await createRest(platform.url)('POST', '/auth/signup', { body: { ...account, name: 'Ada' } });
    chromium = await startChromium();
  }, 300_000);
  afterAll(async () => {
    await chromium.stop();
    await platform.stop();
    for (const { server } of [allowed, foreign]) server.close();
    rmSync(dataDir, { recursive: true });
  });

  const use = async (origin: string) => {
    const page = await chromium.open(`${origin}/`);
    const call = `(${String(USE)})('${platform.url}', ${JSON.stringify(account)})`;
    return page.evaluate<string[]>(call).finally(() => page.close());
  };

  it('reaches everything when CORS_ORIGINS names it', async () => {
    expect(await use(allowed.origin)).toEqual([expect.stringContaining('text/event-stream'), 'open']);
  });

  it('reaches nothing otherwise', async () => {
    await expect(use(foreign.origin)).rejects.toThrow('Failed to fetch');
  });
});
