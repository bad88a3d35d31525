import type { Clock, Log } from '@taskmesh/service';
import type { OwnerRepository } from './owner.repository.ts';

/** Tasks per statement; small, so that other statements do not wait long. */
const TASKS = 200;
const OTHER_ROWS = 1_000;
const OWNERS = 100;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

export interface OwnerEraserDeps {
  repository: Pick<OwnerRepository, 'closed' | 'deleteTasks' | 'eraseChanges' | 'eraseOthers' | 'finish'>;
  /** Told when there are changes of this owner to publish. */
  onCommitted: (ownerId: string) => void;
  clock: Clock;
  log: Log;
}

/** Deletes what can be deleted now. Changes that are not published yet remain for a later run. */
export function createOwnerEraser({ repository, onCommitted, clock, log }: OwnerEraserDeps) {
  let isStopped = false;

  /** False if stopped before the end. */
  const inBatches = async (most: number, removeBatch: () => Promise<number>): Promise<boolean> => {
    while (!isStopped) if ((await removeBatch()) < most) return true;
    return false;
  };

  const erase = async (ownerId: string): Promise<void> => {
    const areDeleted = await inBatches(TASKS, async () => {
      const count = await repository.deleteTasks(ownerId, new Date(clock.now()), TASKS);
      if (count > 0) onCommitted(ownerId);
      return count;
    });
    if (!areDeleted) return;
    for (const eraseBatch of [repository.eraseChanges, repository.eraseOthers])
      if (!(await inBatches(OTHER_ROWS, () => eraseBatch(ownerId, OTHER_ROWS)))) return;
    if (await repository.finish(ownerId)) log.info({ ownerId }, 'nothing is left of a deleted account');
  };

  return {
    /**
     * Looks at all of them: those that wait for the event log, or fail, must not keep others waiting. Rejects at the end
     * with the first failure and the id of its owner.
     */
    async run(): Promise<void> {
      const failures: { ownerId: string; cause: unknown }[] = [];
      let last: string | undefined = BEFORE_ALL;
      while (last !== undefined && !isStopped) {
        const owners: string[] = await repository.closed(last, OWNERS);
        for (const ownerId of owners)
          if (!isStopped) await erase(ownerId).catch((cause: unknown) => failures.push({ ownerId, cause }));
        last = owners.length === OWNERS ? owners.at(-1) : undefined;
      }
      const [first] = failures;
      if (!first) return;
      const message = `Erasing ${failures.length} of the deleted accounts failed. The first is ${first.ownerId}.`;
      throw new Error(message, { cause: first.cause });
    },
    stop: () => void (isStopped = true),
  };
}
