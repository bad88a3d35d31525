import { createFaultyProxy, createTestDatabase, type FaultyProxy, type TestDatabase } from '@taskmesh/testing';
import { withAdmin, withAdmins } from '../src/databases/connect.ts';

let store: TestDatabase;
let proxy: FaultyProxy;
let url: string;
beforeAll(async () => {
  store = await createTestDatabase('silent');
  const { hostname, port } = new URL(store.url);
  proxy = await createFaultyProxy({ host: hostname, port: Number(port) });
  url = Object.assign(new URL(store.url), { host: `${proxy.host}:${proxy.port}` }).href;
});
afterEach(() => proxy.thaw());
afterAll(async () => {
  await proxy.close();
  await store.drop();
});

describe('a server that falls silent', () => {
  it('fails the statement that it was given', async () => {
    const asked = withAdmin(
      url,
      (admin) => {
        proxy.freeze();
        return admin.query('select 1');
      },
      { timeoutMs: 100 },
    );
    await expect(asked).rejects.toThrow('Query read timeout');
  }, 30_000);

  it('holds up neither the sessions on others nor the end of its own', async () => {
    const pids: number[] = [];
    await withAdmins([store.url, url], async (admins) => {
      for (const admin of admins)
        pids.push((await admin.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0);
      proxy.freeze();
    });
    const [first] = pids;
    expect(await store.query('select 1 from pg_stat_activity where pid = $1', [first])).toEqual([]);
  }, 30_000);
});
