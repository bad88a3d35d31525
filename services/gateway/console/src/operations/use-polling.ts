import { useEffect } from 'preact/hooks';
import { useReading, type Reading } from '../requests/use-reading.ts';

/** Reads something every few seconds while somebody can see it, and at once when they come back. */
export function usePolling<Result>(read: () => Promise<Result>, everyMs: number): Reading<Result> {
  const reading = useReading(read);
  const { again } = reading;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const wait = () => {
      clearTimeout(timer);
      if (!isOver && !document.hidden) timer = setTimeout(look, everyMs);
    };
    // The next one waits for the answer: nothing piles up behind a server that is slow.
    const look = () => void again().then(wait);
    const onVisibility = () => (document.hidden ? clearTimeout(timer) : look());
    wait();
    document.addEventListener('visibilitychange', onVisibility);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, [again, everyMs]);
  return reading;
}
