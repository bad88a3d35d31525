import { jest } from '@jest/globals';
import type { Database, Session } from '../database/index.ts';
import { FENCE_MS, openLockSession } from './lock-session.ts';

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

const STATEMENT = { name: 'anything', text: 'select 1' };

describe('a session that holds locks', () => {
  it('is safe only for a while after the last answer, counted from its question', async () => {
    let nowMs = 0;
    const { database, session } = fakeSession();
    session.run = async () => {
      nowMs += 2_000; // the answer takes long
      return [];
    };
    const locks = await openLockSession(database, { monotonicMs: () => nowMs });
    expect(locks.isSafe()).toBe(true);
    nowMs = FENCE_MS - 1;
    expect(locks.isSafe()).toBe(true);
    nowMs = FENCE_MS; // as after a freeze of the process
    expect(locks.isSafe()).toBe(false);

    await locks.run(STATEMENT);
    nowMs += FENCE_MS - 2_001;
    expect(locks.isSafe()).toBe(true);
    nowMs += 1;
    expect(locks.isSafe()).toBe(false);
    await locks.close();
  });

  it('has the server end it when the process is silent, but not before it is unsafe to publish', async () => {
    const { database, asked } = fakeSession();
    const locks = await openLockSession(database, { monotonicMs: () => 0 });
    const silence = /^(\d+)s$/.exec(asked[0]?.settings?.idle_session_timeout ?? '')?.[1];
    expect(Number(silence) * 1_000).toBeGreaterThan(FENCE_MS);
    await locks.close();
  });

  it('does not wait for the disk with what it can do again, so that writers need not wait for that either', async () => {
    const { database, asked } = fakeSession();
    const locks = await openLockSession(database, { monotonicMs: () => 0 });
    expect(asked[0]?.settings?.synchronous_commit).toBe('off');
    await locks.close();
  });

  it('is not safe once it is lost, however fresh the last answer', async () => {
    const { database, lost } = fakeSession();
    const locks = await openLockSession(database, { monotonicMs: () => 0 });
    expect(locks.isSafe()).toBe(true);
    lost.abort();
    expect(locks.isSafe()).toBe(false);
    await locks.close();
  });

  it('gives a sign of life each second, one at a time, until it is lost', async () => {
    jest.useFakeTimers();
    const { database, session, lost } = fakeSession();
    const asked: string[] = [];
    const answers: (() => void)[] = [];
    session.run = ({ name }) => {
      asked.push(name);
      return new Promise((resolve) => void answers.push(() => resolve([])));
    };
    await openLockSession(database, { monotonicMs: () => 0 });
    await jest.advanceTimersByTimeAsync(3_000);
    expect(asked.splice(0)).toEqual(['lock-session-ping']);
    answers[0]?.();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(asked.splice(0)).toEqual(['lock-session-ping']);
    session.run = ({ name }) => (asked.push(name), Promise.reject(new Error('gone')));
    answers[1]?.();
    await jest.advanceTimersByTimeAsync(2_000);
    expect(asked.splice(0)).toHaveLength(2);
    lost.abort();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('gives no sign of life when it was lost as soon as it had connected', async () => {
    jest.useFakeTimers();
    const { database, lost } = fakeSession();
    lost.abort();
    await openLockSession(database, { monotonicMs: () => 0 });
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });
});
