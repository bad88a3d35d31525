import type { Database } from '@taskmesh/database';
import type { FeedPosition } from '@taskmesh/internal-api';
import { createSecretKey, type KeyObject } from 'node:crypto';
import { sealCursor, unsealCursor } from './signed-cursor.ts';
import { STATE } from './feed.statements.ts';

interface FeedState {
  epoch: number;
  /** Prepared once: from bytes, OpenSSL would do that anew for each cursor, which takes five times as long as sealing. */
  key: KeyObject;
}

export type Cursors = ReturnType<typeof createCursors>;

/** Seals and unseals feed positions with the store's own key. A restored store has another epoch and another key. */
export function createCursors(database: Pick<Database, 'run'>) {
  let known: FeedState | undefined;

  const current = async (): Promise<FeedState> => {
    const [row] = await database.run<{ epoch: number; cursor_key: Uint8Array }>('read', STATE, []);
    if (!row) throw new Error('The store has no feed state.');
    known = { epoch: row.epoch, key: createSecretKey(row.cursor_key) };
    return known;
  };

  return {
    /**
     * The epoch was read with the position, maybe just before a restore. Then the key is already the next one, and the
     * cursor will not open: as it must be for every cursor of an epoch that is over.
     */
    async seal(ownerId: string, position: FeedPosition): Promise<string> {
      const state = known?.epoch === position.epoch ? known : await current();
      return sealCursor(state.key, ownerId, position);
    },

    /** Null for nonsense, another owner's cursor, and one of another epoch. */
    async open(ownerId: string, cursor: string): Promise<FeedPosition | null> {
      const state = await current();
      const position = unsealCursor(state.key, ownerId, cursor);
      return position?.epoch === state.epoch ? position : null;
    },
  };
}
