import { useRef, useState } from 'preact/hooks';
import { requireFilled } from './require-filled.ts';

export interface Action<Args extends unknown[]> {
  /** Resolves to whether the action succeeded. While the action is running, does nothing and resolves to false. */
  run(...args: Args): Promise<boolean>;
  isBusy: boolean;
  /** The error of the last run. */
  error: unknown;
}

/** A network action that runs once at a time, and keeps the error of its last run. */
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

type Values = Record<string, string>;

/** An action with the values of a form. Fields with an entry in `sentences` are required; the entry is the error message. */
export function useSending(
  sentences: Values,
  work: (values: Values, form: HTMLFormElement) => Promise<unknown>,
): Action<[values: Values, form: HTMLFormElement]> {
  return useAction(async (values, form) => {
    requireFilled(values, sentences);
    await work(values, form);
  });
}
