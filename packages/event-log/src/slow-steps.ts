import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long steps may keep the event loop before other work runs. */
const TURN_MS = 10;
/** Resolves at the turn of the last work that waits. All long work of the process takes turns, one in each of the event loop. */
let lastTurn: Promise<unknown> = Promise.resolve();

/** Runs the steps of long work. Whenever they have kept the event loop for 10 ms, other work runs before the next one. */
export function createSlowSteps() {
  let [tookMs, untilTurnMs] = [0, TURN_MS];
  return {
    async run(step: () => void): Promise<void> {
      const begunMs = performance.now();
      step();
      tookMs += performance.now() - begunMs;
      if (tookMs < untilTurnMs) return;
      lastTurn = lastTurn.then(() => nextTurn());
      await lastTurn;
      untilTurnMs = tookMs + TURN_MS;
    },
    /** How long all steps have taken, in ms, without the work in between. */
    tookMs: () => tookMs,
  };
}
