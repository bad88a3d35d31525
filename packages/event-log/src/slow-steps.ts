import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long steps may keep the event loop before other work runs. */
const TURN_MS = 10;
/** Resolves at the turn of the last work that waits. All long work of the process takes turns, one in each of the event loop. */
let lastTurn: Promise<unknown> = Promise.resolve();

/** Runs the steps of long work. Whenever they have kept the event loop for 10 ms, other work runs before the next one. */
export function createSlowSteps() {
  let tookMs = 0;
  return {
    async run(step: () => void): Promise<void> {
      const begunMs = performance.now();
      step();
      tookMs += performance.now() - begunMs;
      if (tookMs < TURN_MS) return;
      lastTurn = lastTurn.then(() => nextTurn());
      await lastTurn;
      tookMs = 0;
    },
  };
}
