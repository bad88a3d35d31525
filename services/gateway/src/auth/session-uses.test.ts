import { jest } from '@jest/globals';
import type { SessionUse } from '@taskmesh/internal-api';
import { createLog } from '@taskmesh/service';
import { createSessionUses } from './sessions.ts';

const NOW_MS = Date.parse('2026-11-20T10:00:00Z');
const TEN_SECONDS = 10_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function fixture() {
  const state = { nowMs: NOW_MS, isAway: false, noted: [] as SessionUse[][] };
  const uses = createSessionUses({
    auth: {
      async noteSessionUses(uses) {
        if (state.isAway) throw new Error('away');
        state.noted.push(uses);
      },
    },
    clock: { now: () => state.nowMs },
    log: createLog({ service: 'test', level: 'silent' }),
  });
  void uses.start();
  return { state, uses };
}

describe('the uses of sessions', () => {
  it('are reported in one batch, each session once, with its last use', async () => {
    const { state, uses } = fixture();
    for (const session of ['a', 'b', 'a']) {
      state.nowMs++;
      uses.note(session);
    }
    await jest.advanceTimersByTimeAsync(TEN_SECONDS);
    expect(state.noted).toEqual([
      [
        { sessionId: 'a', at: NOW_MS + 3 },
        { sessionId: 'b', at: NOW_MS + 2 },
      ],
    ]);
    await jest.advanceTimersByTimeAsync(TEN_SECONDS);
    expect(state.noted).toHaveLength(1);
    await uses.stop();
  });

  it('are reported when the gateway stops', async () => {
    const { state, uses } = fixture();
    uses.note('a');
    await uses.stop();
    expect(state.noted).toEqual([[{ sessionId: 'a', at: NOW_MS }]]);
  });

  it('are kept while auth is unavailable, up to a limit', async () => {
    const { state, uses } = fixture();
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
