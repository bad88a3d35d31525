import type { CountRepository, CountSession } from './count.repository.ts';

/** The most owners remembered at once; others are noticed again later. */
const MOST_OWNERS = 10_000;

export type Recounts = ReturnType<typeof createRecounts>;

/** Remembers owners whose tasks a read found uncounted or without keys; `run` counts them for all later reads. */
export function createRecounts(repository: CountRepository) {
  const owners = new Set<string>();
  let session: CountSession | undefined;
  let isStopped = false;

  return {
    note(ownerId: string): void {
      if (owners.size < MOST_OWNERS) owners.add(ownerId);
    },
    async run(): Promise<void> {
      if (owners.size === 0 || isStopped) return;
      session = await repository.openSession();
      try {
        for (const owner of owners) {
          if (isStopped) return; // perhaps while it was connecting
          owners.delete(owner); // an owner who cannot be counted must not block the others for ever
          await session.recount(owner);
        }
      } catch (error) {
        if (!isStopped) throw error;
      } finally {
        await session.close();
      }
    },
    /** Gives up a current run, which may take minutes; an instance that needs it later begins again. */
    async stop(): Promise<void> {
      isStopped = true;
      await session?.close();
    },
  };
}
