import { unavailable } from '@taskmesh/errors';

/** Why somebody stopped to wait, as the caller is told it. */
export const gaveUp = (why: string) => unavailable(undefined, new Error(why));

export interface WaitingOptions {
  /** From now on. */
  timeoutMs: number;
  /** Of the caller, who is still there: when it goes, nobody waits any more. */
  signal?: AbortSignal | undefined;
  /** Told once, unless the answer was there before. */
  onGivenUp: (error: Error) => void;
}

export interface Waiting {
  /** The answer is there. */
  end(): void;
  /** From here on, the caller's end is not the end of it. */
  leaveCaller(): void;
}

/** Begins to wait for an answer: no longer than it may take, and not for a caller that has gone. */
export function beginWaiting({ timeoutMs, signal, onGivenUp }: WaitingOptions): Waiting {
  const giveUp = (why: string) => {
    end();
    onGivenUp(gaveUp(why));
  };
  const onGone = () => giveUp('The caller has gone.');
  const timer = setTimeout(giveUp, timeoutMs, `No answer within ${timeoutMs} ms.`);
  const gone = signal && callsOf(signal).add(onGone);
  const leaveCaller = () => void gone?.delete(onGone);
  const end = () => {
    clearTimeout(timer);
    leaveCaller();
  };
  return { end, leaveCaller };
}

const calls = new WeakMap<AbortSignal, Set<() => void>>();

/** What to call when a signal is aborted. A listener of its own for each call would cost more than all the rest of a wait. */
function callsOf(signal: AbortSignal): Set<() => void> {
  const known = calls.get(signal);
  if (known) return known;
  const fresh = new Set<() => void>();
  calls.set(signal, fresh);
  signal.addEventListener('abort', () => fresh.forEach((call) => call()), { once: true });
  return fresh;
}
