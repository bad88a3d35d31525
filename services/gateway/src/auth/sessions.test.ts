import type { EndedSession, SessionUse } from '@taskmesh/internal-api';
import { createLog } from '@taskmesh/service';
import { atEnd } from '@taskmesh/testing';
import { createEndedSessions, createSessionUses } from './sessions.ts';

const log = createLog({ service: 'test', level: 'silent' });
const NOW_MS = Date.parse('2026-11-20T10:00:00Z');
const UNTIL = NOW_MS / 1000 + 600;
/** How long a session is kept after its tokens expire, including the grace period of channels. */
const KEPT_MS = 2 * 3_600_000 + 60_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** The list is read again, with all its pages. */
const poll = () => jest.advanceTimersByTimeAsync(300);

function fixture(pageSize = 10_000) {
  let list: EndedSession[] = [];
  let nowMs = NOW_MS;
  let monotonicMs = 0;
  const asked: number[] = [];
  const auth = {
    async endedSessions(after: number) {
      asked.push(after);
      const head = list.at(-1)?.sequence ?? 0;
      const sessions = list.filter(({ sequence }) => sequence > after).slice(0, pageSize);
      return { last: sessions.at(-1)?.sequence ?? head, sessions };
    },
  };
  const sessions = createEndedSessions({ auth, clock: { now: () => nowMs }, log, monotonicMs: () => monotonicMs });
  atEnd(() => sessions.stop());
  return {
    asked,
    sessions,
    end: (sessionId: string, until = UNTIL) => {
      const session = { sequence: list.length + 1, sessionId, until };
      list = [...list, session];
      return session;
    },
    renumber: (sessionIds: string[]) =>
      void (list = sessionIds.map((sessionId, index) => ({ sequence: index + 1, sessionId, until: UNTIL }))),
    pass: (ms: number) => void ([nowMs, monotonicMs] = [nowMs + ms, monotonicMs + ms]),
    setClock: (ms: number) => (nowMs = ms),
  };
}

describe('the list of ended sessions', () => {
  it('is loaded completely, page by page, and then polled for new entries', async () => {
    const { sessions, end, asked } = fixture(2);
    for (const id of ['a', 'b', 'c']) end(id);
    expect(sessions.loaded()).toBe(false);
    await sessions.start();
    await poll();
    expect(sessions.loaded()).toBe(true);
    expect(['a', 'b', 'c', 'd'].map((id) => sessions.has(id))).toEqual([true, true, true, false]);
    end('d');
    await poll();
    expect(sessions.has('d')).toBe(true);
    expect(asked.slice(0, 3)).toEqual([0, 1, 2]);
  });

  it('notifies listeners of each session once', async () => {
    const { sessions, end } = fixture();
    const heard: string[] = [];
    const forget = sessions.onEnded((id) => heard.push(id));
    await sessions.start();
    sessions.announce([end('a')]);
    await poll();
    end('b');
    await poll();
    forget();
    sessions.announce([end('c')]);
    expect(heard).toEqual(['a', 'b']);
  });

  it.each([
    ['that is shorter', ['x']],
    ['that is longer', ['a', 'x', 'y', 'z']],
  ])('starts over when auth has another list, %s, and forgets nothing', async (_what, list) => {
    const { sessions, end, renumber } = fixture();
    for (const id of ['a', 'b', 'c']) end(id);
    await sessions.start();
    await poll();
    renumber(list);
    for (const _time of [1, 2]) await poll();
    expect([...list, 'a', 'b', 'c'].filter((id) => !sessions.has(id))).toEqual([]);
  });

  it('keeps a session for two hours longer than a channel accepts its token, by the latest end that was reported', async () => {
    const { sessions, end, pass } = fixture();
    const early = NOW_MS / 1000 + 10;
    for (const [sessionId, ends] of Object.entries({ a: [early, UNTIL], b: [UNTIL, early] }))
      for (const until of ends) sessions.announce([{ sequence: 1, sessionId, until }]);
    end('c', early);
    end('d');
    await sessions.start();
    await poll();
    const known = () => ['a', 'b', 'c', 'd'].map((id) => sessions.has(id));
    pass(KEPT_MS + 9_000);
    await poll();
    expect(known()).toEqual([true, true, true, true]);
    pass(61_000);
    await poll();
    expect(known()).toEqual([true, true, false, true]);
  });

  it('forgets nothing while the clock is temporarily wrong, from the start or later', async () => {
    const { sessions, end, pass, setClock } = fixture();
    const sweep = async () => {
      pass(61_000);
      await poll();
    };
    end('before');
    setClock(NOW_MS + 12 * 3_600_000);
    await sessions.start();
    await sweep();
    setClock(NOW_MS);
    end('after');
    await poll();
    setClock(NOW_MS + 12 * 3_600_000);
    await sweep();
    expect(['before', 'after'].filter((id) => !sessions.has(id))).toEqual([]);
  });
});

const TEN_SECONDS = 10_000;

function usesFixture() {
  const state = { nowMs: NOW_MS, isAway: false, noted: [] as SessionUse[][] };
  const uses = createSessionUses({
    auth: {
      async noteSessionUses(uses) {
        if (state.isAway) throw new Error('away');
        state.noted.push(uses);
      },
    },
    clock: { now: () => state.nowMs },
    log,
  });
  void uses.start();
  return { state, uses };
}

describe('the uses of sessions', () => {
  it('are reported in one batch, each session once, with its last use, and when the gateway stops', async () => {
    const { state, uses } = usesFixture();
    for (const session of ['a', 'b', 'a']) {
      state.nowMs++;
      uses.note(session);
    }
    await jest.advanceTimersByTimeAsync(TEN_SECONDS);
    const batch = ['a', 'b'].map((sessionId, index) => ({ sessionId, at: NOW_MS + 3 - index }));
    expect(state.noted).toEqual([batch]);
    await jest.advanceTimersByTimeAsync(TEN_SECONDS);
    expect(state.noted).toHaveLength(1);
    uses.note('c');
    await uses.stop();
    expect(state.noted).toEqual([batch, [{ sessionId: 'c', at: NOW_MS + 3 }]]);
  });

  it('are kept while auth is unavailable, up to a limit', async () => {
    const { state, uses } = usesFixture();
    state.isAway = true;
    for (let number = 0; number < 50_001; number++) uses.note(`session-${number}`);
    await jest.advanceTimersByTimeAsync(TEN_SECONDS);
    state.isAway = false;
    await jest.advanceTimersByTimeAsync(TEN_SECONDS);
    expect(state.noted.every((each) => each.length <= 5_000)).toBe(true);
    expect(state.noted.flat().map(({ sessionId }) => sessionId)).toEqual(
      Array.from({ length: 50_000 }, (_, number) => `session-${number}`),
    );
    await uses.stop();
  });
});
