import { useRef, useState } from 'preact/hooks';

export interface Action<Args extends unknown[]> {
  /** Says whether it went well. Nothing while it runs already. */
  run(...args: Args): Promise<boolean>;
  isBusy: boolean;
  /** Of the last time. */
  error: unknown;
}

/** What a form or a button does over the network: once at a time, with what went wrong. */
export function useAction<Args extends unknown[]>(work: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: undefined });
  const isRunning = useRef(false);
  return {
    ...state,
    async run(...args) {
      if (isRunning.current) return false;
      isRunning.current = true;
      setState({ isBusy: true, error: undefined });
      try {
        await work(...args);
        setState({ isBusy: false, error: undefined });
        return true;
      } catch (error) {
        setState({ isBusy: false, error });
        return false;
      } finally {
        isRunning.current = false;
      }
    },
  };
}
