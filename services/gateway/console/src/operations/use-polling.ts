import { useEffect } from 'preact/hooks';
import { useReading, type Reading } from '../requests/use-reading.ts';

/** Reads something every few seconds while the page is visible, and at once when it becomes visible again. */
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
    // The timer starts after each response, so that requests to a slow server do not pile up.
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
