import { createTestDatabase, eventually } from '@taskmesh/testing';
import { openSession, type Session } from './session.ts';

const sessions: Session[] = [];

const store = await createTestDatabase('session');
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
});

async function open(options: Partial<Parameters<typeof openSession>[0]> = {}): Promise<Session> {
  const session = await openSession({ url: store.url, name: 'session-under-test', ...options });
  sessions.push(session);
  return session;
}

const statement = (text: string) => ({ name: text, text });

describe('a session', () => {
  it('runs statements in the order of the calls, each with its own values', async () => {
    const session = await open();
    const rows = await Promise.all([3, 1, 2].map((n) => session.run(statement('select $1::int as n'), [n])));
    expect(rows).toEqual([[{ n: 3 }], [{ n: 1 }], [{ n: 2 }]]);
  });

  it('receives notifications from other sessions on a channel', async () => {
    let heard = 0;
    const listener = await open();
    await listener.listen('news', () => heard++);
    await store.query(`select pg_notify('other', ''), pg_notify('news', '')`);
    await eventually(() => expect(heard).toBe(1));
  });

  it('survives a statement that the server refused', async () => {
    const session = await open();
    await expect(session.run(statement('select 1 / 0'))).rejects.toMatchObject({ code: '22012' });
    expect(session.lost.aborted).toBe(false);
    expect(await session.run(statement('select 1 as one'))).toEqual([{ one: 1 }]);
  });

  it('is lost when the server ends it', async () => {
    const session = await open();
    await store.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'session-under-test'`,
    );
    await eventually(() => expect(session.lost.aborted).toBe(true));
    await expect(session.run(statement('select 1'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('is lost when it is silent for longer than the server allows', async () => {
    const session = await open({ settings: { idle_session_timeout: '50ms' } });
    await eventually(() => expect(session.lost.aborted).toBe(true));
  });

  it('is lost, with its locks, when a statement takes too long', async () => {
    const session = await open({ timeoutMs: 2_000 });
    await session.run(statement('select pg_advisory_lock(42)'));
    await expect(session.run(statement('select pg_sleep(60)'))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(session.lost.aborted).toBe(true);
  });
});
