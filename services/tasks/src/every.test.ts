import { eventually } from '@taskmesh/testing';
import { every } from './every.ts';

it('goes on after a failure, which it tells, until it is ended', async () => {
  const failures: unknown[] = [];
  let turns = 0;
  const end = every(
    1,
    async () => {
      turns++;
      throw new Error(`turn ${turns}`);
    },
    (error) => failures.push(String(error)),
  );
  await eventually(() => turns >= 3);
  await end();
  const ended = turns;
  expect(failures.slice(0, 3)).toEqual(['Error: turn 1', 'Error: turn 2', 'Error: turn 3']);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(turns).toBe(ended);
});

it('waits at the end for the turn that is under way', async () => {
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let done = false;
  const end = every(
    1,
    async () => {
      start();
      await gate;
      done = true;
    },
    () => undefined,
  );
  await started;
  const ended = end();
  open();
  await ended;
  expect(done).toBe(true);
});
