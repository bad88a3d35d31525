import { setTimeout as sleep } from 'node:timers/promises';
import { shareAmongOwners } from './shared-database.ts';

const STATEMENT = { name: 'any', text: 'select 1' };

/** A database whose statements run until they are ended. */
function openDatabase(maxWaitMs?: number) {
  const running: { value: unknown; end: (error?: Error) => void }[] = [];
  const run = async <Row>(_kind: unknown, _statement: unknown, [value]: unknown[]) =>
    new Promise<Row[]>((resolve, reject) => {
      running.push({ value, end: (error) => (error ? reject(error) : resolve([{ value }] as Row[])) });
    });
  const database = shareAmongOwners({ run }, { perOwner: 2, maxWaitMs });
  return {
    running,
    values: () => running.map(({ value }) => value),
    read: (value: number, ownerId?: string) => database.run('read', STATEMENT, [value], ownerId),
  };
}

it('runs some statements of an owner at once, and the next ones in order', async () => {
  const { read, running, values } = openDatabase();
  const results = [1, 2, 3, 4].map((value) => read(value, 'ada'));
  expect(values()).toEqual([1, 2]);
  running[1]?.end();
  expect(await results[1]).toEqual([{ value: 2 }]);
  expect(values()).toEqual([1, 2, 3]);
  running[0]?.end(new Error('failed'));
  await expect(results[0]).rejects.toThrow('failed');
  expect(values()).toEqual([1, 2, 3, 4]);
  for (const { end } of running) end();
  await Promise.all(results.slice(1));
  void read(5, 'ada');
  void read(6, 'ada');
  expect(values()).toEqual([1, 2, 3, 4, 5, 6]);
});

it('delays neither other owners nor statements of no owner', async () => {
  const { read, running, values } = openDatabase();
  const [first] = [1, 2, 3].map((value) => read(value, 'ada'));
  void read(4, 'bob');
  void read(5);
  expect(values()).toEqual([1, 2, 4, 5]);
  running[0]?.end();
  await first;
  expect(values()).toEqual([1, 2, 4, 5, 3]);
});

it('refuses with SERVICE_UNAVAILABLE what has waited for too long, and never runs it', async () => {
  const { read, running, values } = openDatabase(20);
  const first = [1, 2].map((value) => read(value, 'ada'));
  await expect(read(3, 'ada')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 });
  for (const { end } of running) end();
  await Promise.all(first);
  void read(4, 'ada');
  await sleep(0);
  expect(values()).toEqual([1, 2, 4]);
});
