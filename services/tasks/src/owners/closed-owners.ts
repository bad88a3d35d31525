import type { AccountChanges, AccountDeleted, AccountLogPosition, AccountsInternal } from '@taskmesh/internal-api';
import { createPeriodic, pause, type Clock, type Log } from '@taskmesh/service';
import type { OwnerRepository } from './owner.repository.ts';

export interface AccountLogReaderDeps {
  repository: Pick<OwnerRepository, 'position' | 'countTasks' | 'isClosed' | 'close' | 'moveTo'>;
  accounts: AccountsInternal;
  /** Called after an owner was closed. */
  onClosed: () => void;
}

/** Follows auth's account log, in order and each entry once, using the position in our own store. */
export function createAccountLogReader({ repository, accounts, onClosed }: AccountLogReaderDeps) {
  let isStopped = false;

  /** Applies an entry and returns the new position; undefined if another instance was faster. */
  const applyEntry = async (
    from: AccountLogPosition,
    entry: AccountDeleted,
  ): Promise<AccountLogPosition | undefined> => {
    if (!(await repository.close(from, entry))) return undefined;
    onClosed();
    return { epoch: entry.epoch, sequence: entry.sequence };
  };

  /**
   * Also reads the entry at the position: if it is another one, or missing, auth's database lost entries in a failover, and the
   * numbers before it may have been used again as well. Reading then starts from the beginning.
   */
  const readAfter = async (position: AccountLogPosition): Promise<AccountChanges> => {
    const log = await accounts.accountChanges({ ...position, sequence: Math.max(0, position.sequence - 1) });
    if (position.sequence === 0 || log.epoch !== position.epoch) return log;
    const [known, ...changes] = log.changes;
    const isOurs = known?.sequence === position.sequence && (await repository.isClosed(known.accountId));
    return isOurs ? { ...log, changes } : accounts.accountChanges({ epoch: 0, sequence: 0 });
  };

  return {
    /** Reads from auth until there are no more entries, or until stopped. */
    async catchUp(): Promise<void> {
      while (!isStopped) {
        const position = await repository.position();
        const { epoch, head, changes } = await readAfter(position);
        if (changes.length === 0 && epoch === position.epoch && head >= position.sequence) return;
        // Nothing was read yet. A store that was loaded with psql has tasks but no feeds.
        if (position.epoch === 0) await repository.countTasks();
        if (changes.length === 0) return repository.moveTo(position, epoch);
        let reached: AccountLogPosition | undefined = position;
        for (const entry of changes) {
          reached = await applyEntry(reached, entry);
          if (!reached || isStopped) break;
        }
      }
    },
    stop: () => void (isStopped = true),
  };
}

/**
 * Tasks per statement, and the pause after each full batch: their changes, of up to 16 KiB each, must not hold up those of other
 * owners, which the relay publishes in between.
 */
const MAX_TASKS_AT_ONCE = 25;
const PAUSE_MS = 100;
const MAX_OTHER_ROWS = 1_000;
const OWNERS_PER_PAGE = 100;
/** How long a run continues with the tasks that are left after it has visited all owners. */
const CONTINUE_MS = 5_000;
const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

export interface OwnerEraserDeps {
  repository: Pick<OwnerRepository, 'listClosed' | 'deleteTasks' | 'eraseChanges' | 'eraseOthers' | 'finish'>;
  /** Called when this owner has changes to publish. */
  onCommitted: (ownerId: string) => void;
  clock: Clock;
  log: Log;
  /** @default performance.now */
  monotonicMs?: () => number;
}

/** Deletes the rows of closed owners that can be deleted now. Unpublished changes remain for a later run. */
export function createOwnerEraser(deps: OwnerEraserDeps) {
  const { repository, onCommitted, clock, log, monotonicMs = () => performance.now() } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;

  /** Returns false if stopped before the end. */
  const inBatches = async (removeBatch: () => Promise<number>): Promise<boolean> => {
    while (!signal.aborted) if ((await removeBatch()) < MAX_OTHER_ROWS) return true;
    return false;
  };

  /** Erases a batch of an owner's tasks, or all other rows if it was the last one. Returns whether tasks may be left. */
  const erase = async (ownerId: string): Promise<boolean> => {
    const count = await repository.deleteTasks(ownerId, new Date(clock.now()), MAX_TASKS_AT_ONCE);
    if (count > 0) onCommitted(ownerId);
    if (count === MAX_TASKS_AT_ONCE) {
      await pause(PAUSE_MS, signal);
      return true;
    }
    for (const eraseBatch of [repository.eraseChanges, repository.eraseOthers])
      if (!(await inBatches(() => eraseBatch(ownerId, MAX_OTHER_ROWS)))) return false;
    if (await repository.finish(ownerId)) log.info({ ownerId }, 'nothing is left of a deleted account');
    return false;
  };

  /** Erases a batch of each owner not in `done`, and returns whether any of them may have tasks left. */
  const eraseSome = async (done: Set<string>, failures: Map<string, unknown>): Promise<boolean> => {
    let areLeft = false;
    let last: string | undefined = LOWEST_ID;
    while (last !== undefined && !signal.aborted) {
      const owners: string[] = await repository.listClosed(last, OWNERS_PER_PAGE);
      for (const ownerId of owners) {
        if (signal.aborted) break;
        if (done.has(ownerId)) continue;
        const isLeft = await erase(ownerId).catch((cause: unknown) => void failures.set(ownerId, cause));
        if (isLeft) areLeft = true;
        else done.add(ownerId);
      }
      last = owners.length === OWNERS_PER_PAGE ? owners.at(-1) : undefined;
    }
    return areLeft;
  };

  return {
    /**
     * Alternates between owners: those that have many tasks, wait for the event log, or fail must not hold up others. Ends soon
     * even if tasks are left, so that the next run visits all again. Rejects at the end with the first failure and its owner's id.
     */
    async run(): Promise<void> {
      const failures = new Map<string, unknown>();
      const done = new Set<string>();
      let areLeft = await eraseSome(done, failures);
      const endAt = monotonicMs() + CONTINUE_MS;
      while (areLeft && !signal.aborted && monotonicMs() < endAt) areLeft = await eraseSome(done, failures);
      const [first] = failures;
      if (!first) return;
      const [ownerId, cause] = first;
      throw new Error(`Erasing ${failures.size} of the deleted accounts failed. The first is ${ownerId}.`, { cause });
    },
    stop: () => stopping.abort(),
  };
}

/** How often to read the account log. */
const READ_EVERY_MS = 1_000;
/** How often to check whether the remaining changes are published, so that they can be erased. */
const ERASE_EVERY_MS = 1_000;
const RETRY = { firstMs: 20, maxMs: 2_000 };

export interface ClosedOwnersDeps {
  reader: ReturnType<typeof createAccountLogReader>;
  eraser: ReturnType<typeof createOwnerEraser>;
  log: Log;
}

/** Deletes everything that belongs to deleted accounts. All instances do this in parallel; nothing is deleted twice. */
export function createClosedOwners({ reader, eraser, log }: ClosedOwnersDeps) {
  let readAt = performance.now();

  const listen = async (): Promise<void> => {
    await reader.catchUp();
    readAt = performance.now();
  };
  const what = { listen: 'reading the account log', erase: 'erasing what is left of deleted accounts' };
  const listening = createPeriodic({ everyMs: READ_EVERY_MS, retry: RETRY, task: listen, what: what.listen, log });
  const erasing = createPeriodic({ everyMs: ERASE_EVERY_MS, retry: RETRY, task: eraser.run, what: what.erase, log });

  return {
    /** Call this after an owner was closed. */
    wake: erasing.soon,
    /** Milliseconds since the account log was last read to its end. */
    readAgeMs: () => performance.now() - readAt,
    /** Runs the periodic work now. @throws when auth is unavailable */
    async processAll(): Promise<void> {
      await listen();
      await eraser.run();
    },
    async start(): Promise<void> {
      listening.start();
      erasing.start();
    },
    async stop(): Promise<void> {
      reader.stop();
      eraser.stop();
      await listening.stop();
      await erasing.stop();
    },
  };
}
