import { unavailable } from '@taskmesh/contracts';
import { TRAIL_LENGTH } from './rest-fakes/auth.ts';
import { startRestApp, type RestApp } from './rest-fakes/app.ts';
import { createClient, type Client } from './rest-fakes/client.ts';

let rest: RestApp;
let client: Client;

beforeAll(async () => {
  rest = await startRestApp();
  client = await createClient(rest.origin);
});
afterAll(() => rest.stop());

const TRAIL_IDS = Array.from({ length: TRAIL_LENGTH }, (_, index) => String(TRAIL_LENGTH - index));

describe('the audit trail', () => {
  it('comes page by page, each of which says where the next one is', async () => {
    const { token } = await client.signUp();
    const seen: string[] = [];
    for (let query: string | undefined = '?limit=500'; query !== undefined;) {
      const { body, headers }: Awaited<ReturnType<Client['call']>> = await client.call(
        'GET',
        `/api/auth/audit${query}`,
        { token },
      );
      seen.push(...body.entries.map(({ id }: { id: string }) => id));
      query = /<([^>]+)>/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual(TRAIL_IDS);
    expect((await client.call('GET', '/api/auth/audit', { token })).body.entries).toHaveLength(100);
  });

  it.each(['limit=0', 'limit=1001', 'limit=x', 'after=x', 'after=1&after=2', 'after='])(
    'refuses ?%s',
    async (query) => {
      const { token } = await client.signUp();
      expect((await client.call('GET', `/api/auth/audit?${query}`, { token })).status).toBe(400);
    },
  );
});

describe.each(['/api', '/full/api', '/reduced/api'])('the export below %s', (prefix) => {
  it('has all that there is of somebody, however much that is, and nothing of anybody else', async () => {
    const [ada, bob] = [await client.signUp(), await client.signUp()];
    const create = (token: string, title: string) => client.call('POST', '/api/tasks', { token, json: { title } });
    const titles = Array.from({ length: 501 }, (_, index) => `Task ${index}`);
    for (const title of titles) await create(ada.token, title);
    await create(bob.token, 'Not of Ada');
    await client.call('POST', '/api/auth/tokens', {
      token: ada.token,
      json: { name: 'A program', scope: 'read', expires_at: '2099-01-01T00:00:00Z' },
    });
    const { status, body, text, headers } = await client.call('GET', `${prefix}/auth/export`, { token: ada.token });
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(Object.keys(body)).toEqual(['profile', 'sessions', 'tokens', 'identities', 'audit', 'tasks']);
    expect(body.profile).toMatchObject({ id: ada.userId, email: ada.email });
    expect([body.sessions.length, body.tokens.length]).toEqual([1, 1]);
    expect(body.audit.map(({ id }: { id: string }) => id)).toEqual(TRAIL_IDS);
    expect(body.tasks.map(({ title }: { title: string }) => title).toSorted()).toEqual(titles.toSorted());
    expect(text).not.toMatch(/taskmesh_pat_|Not of Ada/);
  });

  it('is for nobody without a token, and its head says no more than that it is there', async () => {
    expect((await client.call('GET', `${prefix}/auth/export`)).status).toBe(401);
    const { token } = await client.signUp();
    const head = await client.call('HEAD', `${prefix}/auth/export`, { token });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('is a 503 when what comes first cannot be read, and breaks off when what comes later cannot', async () => {
    const { token } = await client.signUp();
    rest.auth.failNext(unavailable());
    expect((await client.call('GET', `${prefix}/auth/export`, { token })).status).toBe(503);
    rest.tasks.failNext(unavailable());
    const torn = fetch(`${rest.origin}${prefix}/auth/export`, { headers: { authorization: `Bearer ${token}` } });
    await expect(torn.then((response) => response.text())).rejects.toThrow();
  });
});
