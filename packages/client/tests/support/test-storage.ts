import { createMemoryStorage, type Storage } from '../../src/storage.ts';

type Operation = 'getItem' | 'setItem' | 'removeItem';

/** A storage in memory. Calls `before`, which may throw or return a promise to wait for, ahead of each operation. */
export function createTestStorage(before: (operation: Operation) => unknown): Storage {
  const { name, ...memory } = createMemoryStorage();
  const guarded =
    <Args extends unknown[], Result>(operation: Operation, run: (...args: Args) => Result) =>
    async (...args: Args): Promise<Awaited<Result>> => {
      await before(operation);
      return await run(...args);
    };
  return {
    name,
    getItem: guarded('getItem', memory.getItem),
    setItem: guarded('setItem', memory.setItem),
    removeItem: guarded('removeItem', memory.removeItem),
  };
}

/** A storage of which this operation fails. */
export const createBrokenStorage = (operation: Operation): Storage =>
  createTestStorage((each) => (each === operation ? Promise.reject(new Error('broken')) : undefined));
