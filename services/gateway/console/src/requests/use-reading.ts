import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';

/** The last results by name, so that a reopened view has data at once. */
export type KeptReadings = Map<string, unknown>;

export const KeptReadingsContext = createContext<KeptReadings>(new Map());

/** Whether the server is unreachable, according to the connection of the live lists. */
export const UnavailableContext = createContext(false);

export interface Reading<Result> {
  /** The last result; kept while it is read again, and when that fails. */
  data: Result | undefined;
  error: unknown;
  again(): Promise<void>;
}

/**
 * Calls `read` on mount, on demand, and, after a failure, when the network or the server is back.
 * With a name, the result is kept for the next mount.
 */
export function useReading<Result>(read: () => Promise<Result>, name?: string): Reading<Result> {
  const kept = useContext(KeptReadingsContext);
  const isUnavailable = useContext(UnavailableContext);
  const [state, setState] = useState<{ data: Result | undefined; error: unknown }>(() => ({
    data: name === undefined ? undefined : (kept.get(name) as Result | undefined), // each name has one type of result
    error: undefined,
  }));
  const latest = useRef(read);
  latest.current = read;
  const count = useRef(0);
  const again = useCallback(async () => {
    const mine = ++count.current; // results of superseded calls are ignored
    try {
      const data = await latest.current();
      if (mine !== count.current) return;
      if (name !== undefined) kept.set(name, data);
      setState({ data, error: undefined });
    } catch (error) {
      if (mine === count.current) setState(({ data }) => ({ data, error }));
    }
  }, [kept, name]);
  useEffect(() => {
    void again();
    return () => void (count.current += 1);
  }, [again]);
  useEffect(() => {
    if (!state.error) return undefined;
    const retry = () => void again();
    addEventListener('online', retry);
    return () => removeEventListener('online', retry);
  }, [state.error, again]);
  const hasFailed = useRef(false);
  hasFailed.current = state.error !== undefined;
  useEffect(() => {
    if (!isUnavailable && hasFailed.current) void again();
  }, [isUnavailable, again]);
  return { ...state, again };
}
