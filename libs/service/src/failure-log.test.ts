import { createFailureLog } from './failure-log.ts';

function failureLog() {
  let nowMs = 0;
  const reported: string[] = [];
  const log = createFailureLog((error) => reported.push((error as Error).message), { monotonicMs: () => nowMs });
  return { ...log, reported, pass: (ms: number) => (nowMs += ms) };
}

it('reports the first failure of a row, and again after a success', () => {
  const { failed, succeeded, reported } = failureLog();
  expect(succeeded()).toBe(false);
  for (let count = 0; count < 3; count++) failed(new Error('away'));
  expect(succeeded()).toBe(true);
  failed(new Error('away'));
  expect(reported).toEqual(['away', 'away']);
});

it('reports another cause at once, also one behind the same message', () => {
  const { failed, reported } = failureLog();
  failed(new Error('unavailable', { cause: new Error('timeout') }));
  failed(new Error('unavailable', { cause: new Error('timeout') }));
  failed(new Error('unavailable', { cause: new Error('relation "feeds" does not exist') }));
  expect(reported).toHaveLength(2);
});

it('reports the same cause once a minute', () => {
  const { failed, reported, pass } = failureLog();
  for (let second = 0; second < 150; second++) {
    failed(new Error('away'));
    pass(1_000);
  }
  expect(reported).toHaveLength(3);
});
