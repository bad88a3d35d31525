import { unavailable } from '@taskmesh/contracts';

export const gaveUp = (why: string) => unavailable(undefined, new Error(why));

export interface WaitingOptions {
  timeoutMs: number;
  /** The caller's signal; waiting ends when it is aborted. */
  signal?: AbortSignal | undefined;
  /** Called once, unless `end` is called first. */
  onGivenUp: (error: Error) => void;
}

export function beginWaiting({ timeoutMs, signal, onGivenUp }: WaitingOptions) {
  const giveUp = (why: string) => {
    end();
    onGivenUp(gaveUp(why));
  };
  const onGone = () => giveUp('The caller has gone.');
  const timer = setTimeout(giveUp, timeoutMs, `No answer within ${timeoutMs} ms.`);
  signal?.addEventListener('abort', onGone);
  /** From now on, the caller's signal no longer ends the waiting. */
  const leaveCaller = () => signal?.removeEventListener('abort', onGone);
  const end = () => {
    clearTimeout(timer);
    leaveCaller();
  };
  return { end, leaveCaller };
}
