import { unavailable } from '@taskmesh/contracts';
import type { Store } from './store.ts';

/** The simulated statements by name. */
export type Meanings = Record<string, (...values: never[]) => Row[]>;

type Row = Record<string, unknown>;
type Values = readonly unknown[];
export interface Statement {
  name: string;
}

/** The maximum number of rows per part, blocked owner or page, as if changes were so large that more would not fit. */
const MAX_ROWS = 3;

/**
 * Simulates the statements of the feed, the relay and the deletions on the current store. `complain` reports differences between
 * the simulation and the real product.
 */
export function createDatabase(
  store: Store,
  tamper: (meanings: Meanings) => Meanings,
  complain: (what: string) => void,
) {
  const cut = <Each extends object>(rows: Each[], limit: number) =>
    rows.slice(0, Math.min(limit, MAX_ROWS)).map((row, index) => ({ ...row, is_cut: index + 1 === MAX_ROWS }));
  const unpublished = (parts: number[], lows: number[], limit: number, butNot: string[]) => {
    const { epoch, rows } = store.current();
    const due = rows.filter((row) => !row.isPublished && !butNot.includes(row.owner_id));
    return parts.flatMap((part, index) => {
      const ofPart = due.filter((row) => row.part === part && Number(row.id) > (lows[index] ?? 0));
      return cut(ofPart, limit).map((row) => ({ ...row, epoch }));
    });
  };
  const mark = (ids: string[]) => {
    for (const row of store.current().rows) if (ids.includes(row.id)) row.isPublished = true;
    return [];
  };
  const isAt = (epoch: number, sequence: number) => {
    const { position } = store.current();
    return position.epoch === epoch && position.sequence === sequence;
  };
  const keptOf = (owner: string) => {
    const { rows, forgotten } = store.current();
    return rows.filter((row) => row.owner_id === owner && Number(row.sequence) > (forgotten.get(owner) ?? 0));
  };
  const isPublished = (owner: string) => store.current().rows.every((row) => row.owner_id !== owner || row.isPublished);
  const isLeaving = (owner: string) => store.current().leaving.has(owner);

  const meanings = tamper({
    'feed-state': () => [{ epoch: store.epoch(), cursorKey: store.current().cursorKey }],
    'feed-heads': (owners: string[]) => {
      const heads = owners.filter((owner) => store.head(owner) > 0);
      const rows = heads.map((owner) => ({ epoch: store.epoch(), owner_id: owner, head: String(store.head(owner)) }));
      return rows.length > 0 ? rows : [{ epoch: store.epoch(), owner_id: null, head: '0' }];
    },
    'feed-changes-after': (owner: string, sequence: number, limit: number) => {
      const { epoch, rows, forgotten } = store.current();
      const first = Math.max(sequence, forgotten.get(owner) ?? 0);
      const since = rows.filter((row) => row.owner_id === owner && Number(row.sequence) > first);
      const found = cut(since, limit);
      const head = String(store.head(owner));
      return found.length > 0 ? found.map((row) => ({ ...row, epoch, head })) : [{ epoch, head, id: null }];
    },
    'lock-session-claim': (_class: number, parts: number[]) => parts.map((lock) => ({ lock })),
    'lock-session-ping': () => [],
    'relay-wake-others': () => [],
    // Writes here are visible at once, so no writers are ever in progress.
    'relay-writers': () => [{ last: store.current().rows.at(-1)?.id ?? '0', writers: [] }],
    'relay-read': unpublished,
    'relay-mark': mark,
    'relay-read-blocked': (owners: string[], sequences: number[]) => {
      const { epoch, rows } = store.current();
      return owners.flatMap((owner, index) => {
        const isDue = (sequence: string) => Number(sequence) >= Number(sequences[index]);
        const waiting = rows.filter((row) => row.owner_id === owner && isDue(row.sequence) && !row.isPublished);
        return cut(waiting, MAX_ROWS).map((row) => ({ ...row, epoch }));
      });
    },
    'owners-position': () => {
      const { epoch, sequence } = store.current().position;
      return [{ epoch, sequence: String(sequence) }];
    },
    // The simulated store needs neither transactions nor counts of tasks.
    ...Object.fromEntries(
      ['begin', 'owners-lock-position', 'feed-count-tasks', 'commit'].map((name) => [name, () => []]),
    ),
    'owners-is-closed': (owner: string) => (store.current().closed.has(owner) ? [{}] : []),
    'owners-close': (fromEpoch: number, from: number, epoch: number, sequence: number, owner: string) => {
      if (!isAt(fromEpoch, from)) return [];
      store.current().position = { epoch, sequence };
      if (!store.current().closed.has(owner)) store.current().leaving.add(owner);
      store.current().closed.add(owner);
      return [{ owner_id: owner }];
    },
    'owners-move': (fromEpoch: number, from: number, epoch: number) => {
      if (isAt(fromEpoch, from)) store.current().position = { epoch, sequence: 0 };
      return [];
    },
    'owners-closed': (after: string, limit: number) =>
      [...store.current().leaving]
        .filter((owner) => owner > after)
        .toSorted()
        .slice(0, limit)
        .map((owner) => ({ owner_id: owner })),
    'owners-delete-tasks': (_part: number, limit: number, _now: Date, owner: string) => [
      { count: isLeaving(owner) && store.current().closed.has(owner) ? store.remove(owner, limit) : 0 },
    ],
    'owners-erase-changes': (owner: string, limit: number) => {
      const mayGo = isLeaving(owner) && store.living(owner).length === 0 && isPublished(owner);
      const gone = mayGo ? keptOf(owner).slice(0, limit) : [];
      const { forgotten } = store.current();
      for (const { sequence } of gone) forgotten.set(owner, Number(sequence));
      return [{ count: gone.length }];
    },
    'owners-erase-others': () => [{ count: 0 }],
    'owners-finish': (owner: string) => {
      const isDone = isLeaving(owner) && store.living(owner).length === 0 && keptOf(owner).length === 0;
      if (isDone) store.current().leaving.delete(owner);
      return isDone ? [{ owner_id: owner }] : [];
    },
  });
  const run = async <Found>({ name }: Statement, values: Values): Promise<Found[]> => {
    const meaning = meanings[name];
    if (!meaning) {
      complain(`The simulated store does not know the statement ${name}.`);
      throw unavailable();
    }
    return meaning(...(values as never[])) as Found[]; // each caller knows the rows of its statement
  };

  return {
    run: <Found>(_kind: unknown, statement: Statement, values: Values) => run<Found>(statement, values),
    /** Opens a session that is lost when the store is restored, because its database is then replaced. */
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
