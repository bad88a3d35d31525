import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { AwayContext, KeptReadingsContext } from './kept-readings.ts';

export interface Reading<Result> {
  /** What was read last, also while it is read anew. */
  data: Result | undefined;
  error: unknown;
  again(): Promise<void>;
}

/**
 * Reads something when the component appears, again on demand, and after a failure when the network or the server is back.
 * What has a name is still there when the component appears again.
 */
export function useReading<Result>(read: () => Promise<Result>, name?: string): Reading<Result> {
  const kept = useContext(KeptReadingsContext);
  const isAway = useContext(AwayContext);
  const [state, setState] = useState<{ data: Result | undefined; error: unknown }>(() => ({
    data: name === undefined ? undefined : (kept.get(name) as Result | undefined), // a name is for one kind of result
    error: undefined,
  }));
  const latest = useRef(read);
  latest.current = read;
  const count = useRef(0);
  const again = useCallback(async () => {
    const mine = ++count.current; // an answer that comes late is of no use
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
    if (!isAway && hasFailed.current) void again();
  }, [isAway, again]);
  return { ...state, again };
}
