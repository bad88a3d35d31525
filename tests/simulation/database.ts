import { unavailable } from '@taskmesh/errors';
import type { Store } from './store.ts';

type Row = Record<string, unknown>;
type Values = readonly unknown[];
export interface Statement {
  name: string;
}

/** The meaning of the feed's and the relay's statements, on the store of this moment. */
export function createDatabase(store: Store) {
  const unpublished = (parts: number[], limit: number) => {
    const { epoch, rows } = store.current();
    return parts.flatMap((part) =>
      rows
        .filter((row) => row.part === part && !row.isPublished)
        .slice(0, limit)
        .map((row) => ({ ...row, epoch })),
    );
  };
  const mark = (ids: string[]) => {
    for (const row of store.current().rows) if (ids.includes(row.id)) row.isPublished = true;
    return [];
  };
  const meanings: Record<string, (...values: never[]) => Row[]> = {
    'feed-state': () => [{ epoch: store.epoch(), cursor_key: store.current().cursorKey }],
    'feed-heads': (owners: string[]) => {
      const heads = owners.filter((owner) => store.head(owner) > 0);
      const rows = heads.map((owner) => ({ epoch: store.epoch(), owner_id: owner, head: String(store.head(owner)) }));
      return rows.length > 0 ? rows : [{ epoch: store.epoch(), owner_id: null, head: '0' }];
    },
    'feed-changes-after': (owner: string, sequence: number, limit: number) => {
      const { epoch, rows, forgotten } = store.current();
      const first = Math.max(sequence, forgotten.get(owner) ?? 0);
      const found = rows.filter((row) => row.owner_id === owner && Number(row.sequence) > first).slice(0, limit);
      const head = String(store.head(owner));
      return found.length > 0 ? found.map((row) => ({ ...row, epoch, head })) : [{ epoch, head, id: null }];
    },
    'relay-epoch': () => [{ epoch: store.epoch() }],
    'lock-session-claim': (_class: number, parts: number[]) => parts.map((lock) => ({ lock })),
    'lock-session-ping': () => [],
    'relay-wake-others': () => [],
    'relay-read': unpublished,
    'relay-mark': mark,
    'relay-mark-and-read': (parts: number[], limit: number, ids: string[]) => {
      mark(ids);
      return unpublished(parts, limit);
    },
  };
  const run = async <Found>({ name }: Statement, values: Values): Promise<Found[]> => {
    const meaning = meanings[name];
    if (!meaning) throw new Error(`The simulated store does not know the statement ${name}.`);
    return meaning(...(values as never[])) as Found[]; // each caller knows its statement's rows
  };

  return {
    run: <Found>(_kind: unknown, statement: Statement, values: Values) => run<Found>(statement, values),
    /** Lives until the store is restored: then its database is gone. */
    async openSession() {
      const gone = new AbortController();
      store.onRestored(() => gone.abort());
      return {
        lost: gone.signal,
        listen: async () => undefined,
        close: async () => gone.abort(),
        async run<Found>(statement: Statement, values: Values = []) {
          if (gone.signal.aborted) throw unavailable();
          return run<Found>(statement, values);
        },
      };
    },
  };
}
