import { once } from 'node:events';
import { connect } from 'node:net';
import { Registry } from 'prom-client';
import { createAdminServer } from './admin-server.ts';
import { createLog } from './log.ts';

describe('the admin port', () => {
  const admin = createAdminServer({
    host: '127.0.0.1',
    port: 0,
    metrics: new Registry(),
    ready: () => ({ ok: false, stores: { tasks: false } }),
    log: createLog({ service: 'test', level: 'silent' }),
  });
  beforeAll(() => admin.start());
  afterAll(() => admin.stop());

  const get = (path: string, init: RequestInit = {}) => fetch(admin.address() + path, init);

  it('reports what is not ready only on request', async () => {
    const [plain, verbose] = [await get('/readyz'), await get('/readyz?verbose')];
    expect([plain.status, verbose.status]).toEqual([503, 503]);
    expect(await (await get('/metrics')).text()).toContain('\ntaskmesh_ready 0\n');
    expect(await plain.json()).toEqual({ status: 'unavailable' });
    expect(await verbose.json()).toEqual({ ok: false, status: 'unavailable', stores: { tasks: false } });
  });

  it.each([
    ['GET', '/'],
    ['GET', '/dead-letters'],
    ['GET', '/%zz'],
    ['POST', '/livez'],
  ])('refuses an unknown path like the API: %s %s', async (method, path) => {
    const response = await get(path, { method });
    expect([response.status, await response.json()]).toEqual([
      404,
      { message: 'There is nothing at this path.', error: { code: 'NOT_FOUND' } },
    ]);
  });

  it('stops in spite of a connection that sends nothing', async () => {
    const silent = connect(Number(new URL(admin.address()).port), '127.0.0.1').resume();
    await once(silent, 'connect');
    await get('/livez'); // the silent connection is accepted before this request
    await Promise.all([admin.stop(), once(silent, 'close')]);
  });
});
