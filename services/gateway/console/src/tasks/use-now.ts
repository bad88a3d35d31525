import { useEffect, useState } from 'preact/hooks';

const MINUTE = 60_000;

/** The current time, updated every minute, because a page may stay open past midnight. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE);
    return () => clearInterval(timer);
  }, []);
  return now;
}
