import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Reading<Result> {
  /** What was read last, also while it is read anew. */
  data: Result | undefined;
  error: unknown;
  again(): Promise<void>;
}

/** Reads something when the component appears, again on demand, and after a failure when the network is back. */
export function useReading<Result>(read: () => Promise<Result>): Reading<Result> {
  const [state, setState] = useState<{ data: Result | undefined; error: unknown }>({
    data: undefined,
    error: undefined,
  });
  const latest = useRef(read);
  latest.current = read;
  const count = useRef(0);
  const again = useCallback(async () => {
    const mine = ++count.current; // an answer that comes late is of no use
    try {
      const data = await latest.current();
      if (mine === count.current) setState({ data, error: undefined });
    } catch (error) {
      if (mine === count.current) setState(({ data }) => ({ data, error }));
    }
  }, []);
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
  return { ...state, again };
}
