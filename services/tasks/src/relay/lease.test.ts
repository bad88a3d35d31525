import type { Database, Session } from '@taskmesh/database';
import { FENCE_MS, openLease } from './lease.ts';

/** A session that answers when the test lets it. */
function fakeSession() {
  const lost = new AbortController();
  const session: Session = {
    lost: lost.signal,
    run: async () => [],
    listen: async () => undefined,
    close: async () => undefined,
  };
  const asked: Parameters<Database['openSession']>[0][] = [];
  const database: Pick<Database, 'openSession'> = {
    async openSession(options) {
      asked.push(options);
      return session;
    },
  };
  return { session, lost, database, asked };
}

describe('a lease', () => {
  it('is safe only for a while after the last answer, counted from its question', async () => {
    let nowMs = 0;
    const { database, session } = fakeSession();
    const lease = await openLease(database, { onNews: () => undefined, monotonicMs: () => nowMs });
    expect(lease.isSafe()).toBe(true);
    nowMs = FENCE_MS - 1;
    expect(lease.isSafe()).toBe(true);
    nowMs = FENCE_MS; // as after a freeze of the process
    expect(lease.isSafe()).toBe(false);

    session.run = async () => {
      nowMs += 2_000; // the answer was long on its way
      return [];
    };
    await lease.read(1);
    nowMs += FENCE_MS - 2_001;
    expect(lease.isSafe()).toBe(true);
    nowMs += 1;
    expect(lease.isSafe()).toBe(false);
    await lease.end();
  });

  it('has the server end its session when the process is silent, but not before it is unsafe to publish', async () => {
    const { database, asked } = fakeSession();
    const lease = await openLease(database, { onNews: () => undefined, monotonicMs: () => 0 });
    const silence = /^(\d+)s$/.exec(asked[0]?.settings?.idle_session_timeout ?? '')?.[1];
    expect(Number(silence) * 1_000).toBeGreaterThan(FENCE_MS);
    await lease.end();
  });

  it('is not safe once the session is lost, however fresh the last answer', async () => {
    const { database, lost } = fakeSession();
    const lease = await openLease(database, { onNews: () => undefined, monotonicMs: () => 0 });
    expect(lease.isSafe()).toBe(true);
    lost.abort();
    expect(lease.isSafe()).toBe(false);
    await lease.end();
  });
});
