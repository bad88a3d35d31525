import { sealCursor, unsealCursor } from '@taskmesh/contracts';
import type { FeedPosition } from '@taskmesh/internal-api';
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { FeedRepository } from './feed.repository.ts';

interface FeedState {
  epoch: number;
  /** Imported once: with raw bytes, OpenSSL would import them for each cursor, at five times the cost of sealing. */
  key: KeyObject;
}

export type Cursors = ReturnType<typeof createCursors>;

/** Seals and opens feed positions with the store's own key. A restored store has another epoch and another key. */
export function createCursors(repository: Pick<FeedRepository, 'state'>) {
  let known: FeedState | undefined;
  let reading: Promise<FeedState> | undefined;

  const current = async (): Promise<FeedState> => {
    const { epoch, cursorKey } = await repository.state();
    known = { epoch, key: createSecretKey(cursorKey) };
    return known;
  };

  const readAt = async (epoch: number): Promise<FeedState> => {
    reading ??= current().finally(() => (reading = undefined));
    const state = await reading;
    return state.epoch < epoch ? current() : state; // it was read before a restore that the caller knows of
  };

  const stateAt = async (epoch: number): Promise<FeedState> => (known?.epoch === epoch ? known : readAt(epoch));

  return {
    /** Reads the key of this epoch, in Base64; undefined for a past epoch. Does not use the cache: psql may have loaded another key. */
    async keyAt(epoch: number): Promise<string | undefined> {
      const state = await readAt(epoch);
      return state.epoch === epoch ? state.key.export().toString('base64') : undefined;
    },

    /**
     * The epoch was read with the position, possibly just before a restore. In that case the key belongs to the next epoch
     * and the cursor does not open, like any cursor of a past epoch.
     */
    async seal(ownerId: string, position: FeedPosition): Promise<string> {
      const state = await stateAt(position.epoch);
      return sealCursor(state.key, ownerId, position);
    },

    /** Returns null if the cursor is malformed, or belongs to another owner or epoch. */
    async open(ownerId: string, cursor: string): Promise<FeedPosition | null> {
      const state = await current();
      const position = unsealCursor(state.key, ownerId, cursor);
      return position?.epoch === state.epoch ? position : null;
    },
  };
}
