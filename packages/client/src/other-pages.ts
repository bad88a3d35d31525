import { isRecord, nameOf, type Storage } from './storage.ts';

/** Sent to the other pages when the stored session has changed. */
export interface PageMessage {
  /** The sign-in that has ended with a sign-out. */
  left?: string | undefined;
  /** Somebody's sign-in. */
  signInId?: string | undefined;
}

/** Messages between the pages that share a storage. */
export interface OtherPages {
  notify(message: PageMessage): void;
  close(): void;
}

/** Browsers that block the storage of a page refuse it a channel as well. */
function openChannel(name: string): InstanceType<typeof BroadcastChannel> | undefined {
  try {
    return globalThis.BroadcastChannel && new BroadcastChannel(name);
  } catch {
    return undefined;
  }
}

/** Without `BroadcastChannel`, pages notice changes only when they next use their tokens. */
export function createOtherPages(storage: Storage, onMessage: (message: PageMessage) => void): OtherPages {
  let channel = openChannel(nameOf(storage));
  if (!channel) return { notify() {}, close() {} };
  channel.onmessage = ({ data }: { data: unknown }) => onMessage(isRecord(data) ? data : {});
  (channel as { unref?: () => void }).unref?.(); // lets a Node process exit
  return {
    notify: (message) => channel?.postMessage(message),
    close() {
      channel?.close();
      channel = undefined;
    },
  };
}
