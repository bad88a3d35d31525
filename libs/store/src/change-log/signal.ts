/** A notice that is remembered: if nothing waits for it, it ends the next wait at once. */
export interface Signal {
  notify(): void;
  /** Resolves with the next notice, or after `timeoutMs`. Only one wait at a time. */
  wait(timeoutMs: number): Promise<void>;
  /** Drops a notice whose cause is about to be handled. */
  clear(): void;
}

export function createSignal(): Signal {
  let isNotified = false;
  let wake: (() => void) | undefined;
  return {
    notify() {
      isNotified = true;
      wake?.();
    },
    clear() {
      isNotified = false;
    },
    async wait(timeoutMs) {
      if (isNotified) return;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
        timer = setTimeout(resolve, timeoutMs);
      });
      clearTimeout(timer);
      wake = undefined;
    },
  };
}
