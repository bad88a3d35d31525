import { createCursors } from './cursors.ts';
import { createFeedRepository } from './feed.repository.ts';

const OWNER = '01890000-0000-7000-8000-0000000000aa';

function createStore(first: number | undefined) {
  let epoch = first;
  let queries = 0;
  let key: number | undefined;
  const run = async <Row>() => {
    queries++;
    return epoch === undefined ? [] : ([{ epoch, cursorKey: Buffer.alloc(32, key ?? epoch) }] as Row[]);
  };
  const cursors = createCursors(createFeedRepository({ run }));
  return { cursors, queries: () => queries, restore: (next: number) => (epoch = next), load: () => (key = 99) };
}

it('reads the key once for all cursors of an epoch, and again for another epoch', async () => {
  const { cursors, queries, restore } = createStore(1);
  for (let sequence = 0; sequence < 10; sequence++) await cursors.seal(OWNER, { epoch: 1, sequence });
  expect(queries()).toBe(1);
  restore(2);
  const cursor = await cursors.seal(OWNER, { epoch: 2, sequence: 10 });
  expect(queries()).toBe(2);
  expect(await cursors.open(OWNER, cursor)).toEqual({ epoch: 2, sequence: 10 });
});

it('seals with a key that psql loaded, after a gateway has requested it', async () => {
  const { cursors, load } = createStore(1);
  const before = await cursors.seal(OWNER, { epoch: 1, sequence: 5 });
  load();
  expect(await cursors.keyAt(1)).toBe(Buffer.alloc(32, 99).toString('base64'));
  const after = await cursors.seal(OWNER, { epoch: 1, sequence: 5 });
  expect([await cursors.open(OWNER, before), await cursors.open(OWNER, after)]).toEqual([
    null,
    { epoch: 1, sequence: 5 },
  ]);
});

it('reports that the store has lost its epoch and its key', async () => {
  const { cursors } = createStore(undefined);
  await expect(cursors.seal(OWNER, { epoch: 1, sequence: 1 })).rejects.toThrow('The store has no feed state.');
  await expect(cursors.open(OWNER, '')).rejects.toThrow('The store has no feed state.');
});
