import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { register, type Account } from '../http.ts';
import { usePlatform } from './console/use-platform.ts';

/** Outside it, pages of any loopback origin may call, as both are here. */
const PRODUCTION = { NODE_ENV: 'production', BACKUP_TOKEN: 'b'.repeat(40) };

/** What a page of somebody else does: signs in, reads the list, and follows it over SSE and a WebSocket. */
const USE = async ({ url, account }: { url: string; account: Account }) => {
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
  let allowed: Awaited<ReturnType<typeof servePage>>;
  let foreign: Awaited<ReturnType<typeof servePage>>;
  beforeAll(async () => {
    [allowed, foreign] = await Promise.all([servePage(), servePage()]);
  });
  const { url, open } = usePlatform(async () => ({ ...PRODUCTION, CORS_ORIGINS: allowed.origin }));
  afterAll(() => [allowed, foreign].forEach(({ server }) => server.close()));

  const use = async (origin: string) => {
    const { email, password } = await register(url());
    const { page } = await open({}, origin);
    return page.evaluate(USE, { url: url(), account: { email, password } });
  };

  it('reaches everything when CORS_ORIGINS names it', async () => {
    expect(await use(allowed.origin)).toEqual([expect.stringContaining('text/event-stream'), 'open']);
  });

  it('reaches nothing otherwise', async () => {
    await expect(use(foreign.origin)).rejects.toThrow('Failed to fetch');
  });
});
