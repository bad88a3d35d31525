import type { FakeTasks } from './tasks.ts';

/** From now on, every request to the service waits until `release`. `undo` lets others through again. */
export function holdExecution({ subgraph }: Pick<FakeTasks, 'subgraph'>) {
  const { execute } = subgraph;
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let isHeld = false;
  subgraph.execute = async (...args) => {
    isHeld = true;
    await held;
    return execute(...args);
  };
  return { isHeld: () => isHeld, release, undo: () => void (subgraph.execute = execute) };
}
