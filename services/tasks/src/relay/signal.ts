/** Something happened. It is remembered: given while nobody waits, it ends the next wait at once. */
export interface Signal {
  notify(): void;
  /** Resolves at the next notice, or after `timeoutMs`. One at a time. */
  wait(timeoutMs: number): Promise<void>;
  /** Forgets a notice: what it announced is looked at now. */
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
