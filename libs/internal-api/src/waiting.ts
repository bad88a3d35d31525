import { unavailable } from '@taskmesh/contracts';

export const abandoned = (reason: string) => unavailable(undefined, new Error(reason));

export interface WaitingOptions {
  timeoutMs: number;
  /** The caller's signal; waiting ends when it is aborted. */
  signal?: AbortSignal | undefined;
  /** Called once, unless `end` is called first. */
  onGivenUp: (error: Error) => void;
}

export function startWaiting({ timeoutMs, signal, onGivenUp }: WaitingOptions) {
  const giveUp = (reason: string) => {
    end();
    onGivenUp(abandoned(reason));
  };
  const onDisconnect = () => giveUp('The caller has disconnected.');
  const timer = setTimeout(giveUp, timeoutMs, `No response within ${timeoutMs} ms.`);
  signal?.addEventListener('abort', onDisconnect);
  /** From now on, the caller's signal no longer ends the waiting. */
  const detachCaller = () => signal?.removeEventListener('abort', onDisconnect);
  const end = () => {
    clearTimeout(timer);
    detachCaller();
  };
  return { end, detachCaller };
}
