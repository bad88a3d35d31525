import { monotonicClock, type Log } from '@taskmesh/service';
import { createMemoryLimiters } from './limiters.ts';
import type { KeyValue } from './key-value.ts';
import { createListeners } from './subscriptions.ts';

const SWEEP_EVERY = 1_000;

/** The key-value store of a single process; always up. */
export function createMemoryKeyValue({ log }: { log?: Log } = {}): KeyValue {
  const values = new Map<string, { value: string; expiresAt: number }>();
  const listeners = createListeners(log);
  let writes = 0;
  let open = true;

  const sweep = () => {
    for (const [key, { expiresAt }] of values) if (expiresAt <= monotonicClock.now()) values.delete(key);
  };

  return {
    async get(key) {
      const found = values.get(key);
      return found && found.expiresAt > monotonicClock.now() ? found.value : null;
    },
    async set(key, value, { ttlSeconds }) {
      if (!open) return;
      values.set(key, { value, expiresAt: monotonicClock.now() + ttlSeconds * 1_000 });
      if (++writes % SWEEP_EVERY === 0) sweep();
    },
    async publish(channel, message) {
      // As over a network, the publisher continues before any subscriber is called.
      setImmediate(() => listeners.tell(channel, message));
    },
    async subscribe(channel, onMessage) {
      if (!open) return async () => undefined;
      const remove = listeners.add(channel, onMessage);
      return async () => remove();
    },
    limiter: createMemoryLimiters(),
    isUp: () => open,
    async close() {
      open = false;
      values.clear();
      listeners.clear();
    },
  };
}
