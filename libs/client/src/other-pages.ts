import { isRecord } from './storage.ts';

/** Sent to the other pages when the stored session has changed. */
export interface PageMessage {
  /** The user who has signed out. */
  left?: string | undefined;
}

/** The other pages of the origin. */
export interface OtherPages {
  notify(message: PageMessage): void;
  close(): void;
}

/** Without `BroadcastChannel`, pages find out when they use their tokens. */
export function createOtherPages(onMessage: (message: PageMessage) => void): OtherPages {
  if (!globalThis.BroadcastChannel) return { notify() {}, close() {} };
  let channel: InstanceType<typeof BroadcastChannel> | undefined = new BroadcastChannel('taskmesh');
  channel.onmessage = ({ data }: { data: unknown }) => onMessage(isRecord(data) ? data : {});
  (channel as { unref?: () => void }).unref?.(); // lets a script in Node end
  return {
    notify: (message) => channel?.postMessage(message),
    close() {
      channel?.close();
      channel = undefined;
    },
  };
}
