import type { Log } from '@taskmesh/service';

export interface Listeners {
  /** Returns a function that removes this listener. */
  add(channel: string, onMessage: (message: string) => void): () => void;
  tell(channel: string, message: string): void;
  channels(): string[];
  has(channel: string): boolean;
  clear(): void;
}

export function createListeners(log: Log | undefined): Listeners {
  const byChannel = new Map<string, Set<{ onMessage: (message: string) => void }>>();

  return {
    add(channel, onMessage) {
      const listener = { onMessage }; // an object for each call, because the same function may listen twice
      const listeners = byChannel.get(channel) ?? new Set();
      byChannel.set(channel, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && byChannel.get(channel) === listeners) byChannel.delete(channel);
      };
    },
    tell(channel, message) {
      for (const { onMessage } of [...(byChannel.get(channel) ?? [])]) {
        try {
          onMessage(message);
        } catch (error) {
          log?.error({ err: error, channel }, 'a subscriber of the key-value store failed');
        }
      }
    },
    channels: () => [...byChannel.keys()],
    has: (channel) => byChannel.has(channel),
    clear: () => byChannel.clear(),
  };
}
