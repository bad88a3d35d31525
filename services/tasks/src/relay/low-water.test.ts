import { createRandom } from '@taskmesh/testing';
import { createLowWater } from './low-water.ts';

const PARTS = [0];
const LIMIT = 10;

function createWorld() {
  const water = createLowWater();
  const committed = new Set<number>();
  const writers = new Map<string, number[]>();
  let last = 0;
  return {
    water,
    /** Takes the next id; the row appears when the transaction ends. */
    take(writer: string) {
      last += 1;
      writers.set(writer, [...(writers.get(writer) ?? []), last]);
      return last;
    },
    end(writer: string) {
      for (const id of writers.get(writer) ?? []) committed.add(id);
      writers.delete(writer);
    },
    look: () => water.update({ last, writers: [...writers.keys()] }),
    read(limit = LIMIT, isBlocked = (_id: number) => false) {
      const [after = 0] = water.begin(PARTS);
      const rows = [...committed]
        .toSorted((one, other) => one - other)
        .filter((id) => id > after && !isBlocked(id))
        .slice(0, limit)
        .map((id) => ({ id: String(id), part: 0 }));
      water.end(PARTS, rows);
      return { after, ids: rows.map(({ id }) => Number(id)) };
    },
    publish(ids: number[]) {
      for (const id of ids) committed.delete(id);
    },
  };
}

it('rises past blocked changes, until it is lowered to them', () => {
  const { water, look, take, end, read } = createWorld();
  for (let n = 0; n < 3; n++) take('a');
  end('a');
  for (let looks = 0; looks < 3; looks++) look();
  const isBlocked = (id: number) => id > 1;
  expect(read(LIMIT, () => true)).toMatchObject({ after: 0, ids: [] });
  expect(read(LIMIT, isBlocked)).toMatchObject({ after: 3, ids: [] });
  water.lower({ id: '2', part: 0 });
  expect(read()).toMatchObject({ after: 1, ids: [2, 3] });
  water.restart();
  expect(read()).toMatchObject({ after: 0, ids: [1, 2, 3] });
});

it('does not rise after a read that began before a restart', () => {
  const { water, look, take, end } = createWorld();
  take('a');
  end('a');
  for (let looks = 0; looks < 3; looks++) look();
  water.begin(PARTS);
  water.restart();
  water.end(PARTS, []);
  expect(water.begin(PARTS)).toEqual([0]);
});

it('loses no change, in whatever order ids are committed', () => {
  const world = createWorld();
  const next = createRandom(7);
  const random = (below: number) => Math.floor(next() * below);
  const seen = new Set<number>();
  let taken = 0;
  for (let step = 0; step < 20_000; step++) {
    const writer = `w${random(6)}`;
    const dice = random(10);
    if (dice < 3 && step < 19_000) taken = world.take(writer);
    else if (dice < 6) world.end(writer);
    else if (dice < 7) world.look();
    else {
      const { ids } = world.read(1 + random(5));
      const published = ids.filter(() => random(8) > 0);
      for (const id of published) seen.add(id);
      world.publish(published);
    }
  }
  for (let n = 0; n < 6; n++) world.end(`w${n}`);
  for (let ids = [0]; ids.length > 0; world.publish(ids)) {
    ids = world.read().ids;
    for (const id of ids) seen.add(id);
  }
  expect(seen.size).toBe(taken);
});
