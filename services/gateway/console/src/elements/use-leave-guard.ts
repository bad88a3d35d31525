import { useLayoutEffect } from 'preact/hooks';

/** Makes the browser ask before it leaves a page with unsaved work. `mayLose` is evaluated when the user leaves. */
export function useLeaveGuard(isNeeded: boolean, mayLose = () => true): void {
  // A layout effect runs before the next paint; a later one could miss what was just typed.
  useLayoutEffect(() => {
    if (!isNeeded) return undefined;
    const ask = (event: Event) => {
      if (mayLose()) event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isNeeded]);
}
