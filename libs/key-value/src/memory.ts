import { monotonicClock } from '@taskmesh/service';
import { createMemoryLimiters } from './limiters.ts';
import type { KeyValue } from './key-value.ts';

const SWEEP_EVERY = 1_000;

/** The key-value store of a single process; always up. */
export function createMemoryKeyValue(): KeyValue {
  const values = new Map<string, { value: string; expiresAt: number }>();
  let writes = 0;
  let isOpen = true;

  const sweep = () => {
    for (const [key, { expiresAt }] of values) if (expiresAt <= monotonicClock.now()) values.delete(key);
  };

  return {
    async get(key) {
      const found = values.get(key);
      return found && found.expiresAt > monotonicClock.now() ? found.value : null;
    },
    async set(key, value, { ttlSeconds }) {
      if (!isOpen) return;
      values.set(key, { value, expiresAt: monotonicClock.now() + ttlSeconds * 1_000 });
      if (++writes % SWEEP_EVERY === 0) sweep();
    },
    limiter: createMemoryLimiters(),
    isUp: () => isOpen,
    async close() {
      isOpen = false;
      values.clear();
    },
  };
}
