import { isRecord, nameOf, type Storage } from './storage.ts';

/** Sent to the other pages when the stored session has changed. */
export interface PageMessage {
  /** The user who has signed out. */
  left?: string | undefined;
}

/** Messages between the pages that share a storage. */
export interface OtherPages {
  notify(message: PageMessage): void;
  close(): void;
}

/** Without `BroadcastChannel`, pages notice changes only when they next use their tokens. */
export function createOtherPages(storage: Storage, onMessage: (message: PageMessage) => void): OtherPages {
  if (!globalThis.BroadcastChannel) return { notify() {}, close() {} };
  let channel: InstanceType<typeof BroadcastChannel> | undefined = new BroadcastChannel(nameOf(storage));
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
