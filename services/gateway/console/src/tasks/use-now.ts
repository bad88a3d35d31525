import { useEffect, useState } from 'preact/hooks';

const MINUTE = 60_000;

/** The time, to a minute: days end while pages are open. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE);
    return () => clearInterval(timer);
  }, []);
  return now;
}
