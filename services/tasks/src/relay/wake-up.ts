/** A bell that is remembered: rung while nobody waits, it ends the next wait at once. */
export interface WakeUp {
  ring(): void;
  /** Resolves when the bell rings, or after `timeoutMs`. One at a time. */
  wait(timeoutMs: number): Promise<void>;
  /** Forgets a ring: what it announced is looked at now. */
  clear(): void;
}

export function createWakeUp(): WakeUp {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    clear() {
      rung = false;
    },
    async wait(timeoutMs) {
      if (rung) return;
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
