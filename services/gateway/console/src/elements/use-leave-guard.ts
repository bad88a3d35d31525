import { useLayoutEffect } from 'preact/hooks';

/** Lets the browser ask before the page goes with something that is nowhere else; `mayLose` is looked at in that moment. */
export function useLeaveGuard(isNeeded: boolean, mayLose = () => true): void {
  // At once: what is typed in a moment may be lost in the next one.
  useLayoutEffect(() => {
    if (!isNeeded) return undefined;
    const ask = (event: Event) => {
      if (mayLose()) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isNeeded]);
}
