import type { Database } from '@taskmesh/database';
import type { FeedPosition } from '@taskmesh/internal-api';
import { createSecretKey, type KeyObject } from 'node:crypto';
import { sealCursor, unsealCursor } from './signed-cursor.ts';
import { STATE } from './feed.statements.ts';

interface FeedState {
  epoch: number;
  /** Imported once: from raw bytes OpenSSL would do so for each cursor, at five times the cost of sealing. */
  key: KeyObject;
}

export type Cursors = ReturnType<typeof createCursors>;

/** Seals and opens feed positions with the store's own key. A restored store has another epoch and another key. */
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
     * The epoch was read with the position, possibly just before a restore. The key is then the next one, and the
     * cursor will not open, as is right for any cursor of a past epoch.
     */
    async seal(ownerId: string, position: FeedPosition): Promise<string> {
      const state = known?.epoch === position.epoch ? known : await current();
      return sealCursor(state.key, ownerId, position);
    },

    /** Null when the cursor is malformed, another owner's, or of another epoch. */
    async open(ownerId: string, cursor: string): Promise<FeedPosition | null> {
      const state = await current();
      const position = unsealCursor(state.key, ownerId, cursor);
      return position?.epoch === state.epoch ? position : null;
    },
  };
}
