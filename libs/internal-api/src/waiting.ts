import { unavailable } from '@taskmesh/contracts';

export const gaveUp = (why: string) => unavailable(undefined, new Error(why));

export interface WaitingOptions {
  timeoutMs: number;
  /** The caller's: waiting ends when it is aborted. */
  signal?: AbortSignal | undefined;
  /** Called once, unless the answer came first. */
  onGivenUp: (error: Error) => void;
}

export interface Waiting {
  end(): void;
  /** From now on, the caller's signal no longer ends the waiting. */
  leaveCaller(): void;
}

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

/** What to call when a signal aborts. A listener for each call would cost more than the rest of the wait. */
function callsOf(signal: AbortSignal): Set<() => void> {
  const known = calls.get(signal);
  if (known) return known;
  const fresh = new Set<() => void>();
  calls.set(signal, fresh);
  signal.addEventListener('abort', () => fresh.forEach((call) => call()), { once: true });
  return fresh;
}
