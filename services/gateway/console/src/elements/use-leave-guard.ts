import { useLayoutEffect } from 'preact/hooks';

/** Lets the browser ask before it leaves a page with unsaved work; `mayLose` is asked at that moment. */
export function useLeaveGuard(isNeeded: boolean, mayLose = () => true): void {
  // Before the next paint: a later effect might miss something just typed.
  useLayoutEffect(() => {
    if (!isNeeded) return undefined;
    const ask = (event: Event) => {
      if (mayLose()) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isNeeded]);
}
