import { isRecord, nameOf, type Storage } from './storage.ts';

/** Sent to the other pages when the stored session has changed. */
export interface PageMessage extends Pick<Storage, 'name'> {
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

function openChannel(): InstanceType<typeof BroadcastChannel> | undefined {
  try {
    return new BroadcastChannel('taskmesh');
  } catch {
    return undefined; // old browsers have none, and those that block the storage of a page refuse it a channel as well
  }
}

/** Without `BroadcastChannel`, pages notice changes only when they next use their tokens. */
export function createOtherPages(storage: Storage, onMessage: (message: PageMessage) => void): OtherPages {
  let channel = openChannel();
  if (channel) {
    channel.onmessage = ({ data }: { data: unknown }) => {
      if (isRecord(data) && nameOf(data) === nameOf(storage)) onMessage(data);
    };
    (channel as { unref?: () => void }).unref?.(); // lets a Node process exit
  }
  return {
    notify: (message) => channel?.postMessage({ ...message, name: storage.name }),
    close() {
      channel?.close();
      channel = undefined;
    },
  };
}
