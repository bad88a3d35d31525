import type { EndedSession } from '@taskmesh/internal-api';
import { createLog } from '@taskmesh/service';
import { atEnd, eventually } from '@taskmesh/testing';
import { createEndedSessions } from './sessions.ts';

const log = createLog({ service: 'test', level: 'silent' });
const NOW_MS = Date.parse('2026-11-20T10:00:00Z');
const UNTIL = NOW_MS / 1000 + 600;
/** As long as any token may be accepted, by a channel too, and an hour more. */
const KEPT_MS = 86_400_000 + 60_000 + 3_600_000;

function fixture(pageSize = 10_000) {
  let list: EndedSession[] = [];
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
  const sessions = createEndedSessions({ auth, log, monotonicMs: () => monotonicMs });
  atEnd(() => sessions.stop());
  return {
    asked,
    sessions,
    end: (sessionId: string, until = UNTIL) => {
      const session = { sequence: list.length + 1, sessionId, until };
      list = [...list, session];
      return session;
    },
    renumber: (sessionIds: string[]) => {
      list = sessionIds.map((sessionId, index) => ({ sequence: index + 1, sessionId, until: UNTIL }));
    },
    pass: (ms: number) => (monotonicMs += ms),
  };
}

describe('the list of ended sessions', () => {
  it('is loaded completely, page by page, and then polled for new entries', async () => {
    const { sessions, end, asked } = fixture(2);
    for (const id of ['a', 'b', 'c']) end(id);
    expect(sessions.loaded()).toBe(false);
    await sessions.start();
    await eventually(() => sessions.loaded());
    expect(['a', 'b', 'c', 'd'].map((id) => sessions.has(id))).toEqual([true, true, true, false]);
    end('d');
    await eventually(() => sessions.has('d'));
    expect(asked.slice(0, 3)).toEqual([0, 1, 2]);
  });

  it('notifies listeners of each session once', async () => {
    const { sessions, end } = fixture();
    const heard: string[] = [];
    const forget = sessions.onEnded((id) => heard.push(id));
    await sessions.start();
    sessions.announce([end('a')]);
    await eventually(() => sessions.loaded());
    end('b');
    await eventually(() => heard.includes('b'));
    forget();
    sessions.announce([end('c')]);
    expect(heard).toEqual(['a', 'b']);
  });

  it.each([
    ['that is shorter', ['x']],
    ['that is as long again', ['a', 'x', 'y']],
    ['that is longer', ['a', 'x', 'y', 'z']],
  ])('starts over when auth has another list, %s, and forgets nothing', async (_what, list) => {
    const { sessions, end, renumber } = fixture();
    for (const id of ['a', 'b', 'c']) end(id);
    await sessions.start();
    await eventually(() => sessions.has('c'));
    renumber(list);
    await eventually(() => sessions.has('x'));
    expect([...list, 'a', 'b', 'c'].filter((id) => !sessions.has(id))).toEqual([]);
  });

  it('keeps a session as long as any token may be accepted, regardless of the clocks, from when it was last reported', async () => {
    const { sessions, end, pass, asked } = fixture();
    const longAgo = NOW_MS / 1000 - 7_200; // or the clock was ahead
    const [, again] = ['once', 'again', 'newest'].map((sessionId) => end(sessionId, longAgo));
    const isKept = () => ['once', 'again', 'newest'].map((id) => sessions.has(id));
    await sessions.start();
    await eventually(() => sessions.loaded());
    pass(KEPT_MS - 1_000);
    const before = asked.length;
    await eventually(() => asked.length > before + 1);
    expect(isKept()).toEqual([true, true, true]);
    sessions.announce(again ? [again] : []);
    pass(61_000);
    await eventually(() => expect(isKept()).toEqual([false, true, true]));
  });
});
