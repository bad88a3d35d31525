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
    look: () => water.see({ last, writers: [...writers.keys()] }),
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

it('rises behind published changes, once no transaction can have a lower id', () => {
  const { water, look, take, end, read, publish } = createWorld();
  expect([take('a'), take('b'), take('a')]).toEqual([1, 2, 3]);
  end('a');
  const first = read();
  expect(first.ids).toEqual([1, 3]);
  publish(first.ids);
  for (let looks = 0; looks < 5; looks++) look();
  expect(read()).toMatchObject({ after: 0, ids: [] }); // 2 may still come
  end('b');
  look();
  expect(read()).toMatchObject({ ids: [2] });
  publish([2]);
  read();
  expect(read().after).toBe(3);
  look();
  expect(water.isMoving()).toBe(false);
});

it('is worth a query when something was read, and not otherwise', () => {
  const { water, look, take, end, read } = createWorld();
  expect(water.isMoving()).toBe(true);
  look();
  read();
  expect(water.isMoving()).toBe(false);
  take('a');
  end('a');
  read();
  expect(water.isMoving()).toBe(true);
});

it('waits for transactions that took an id between two queries, and not for later ones', () => {
  const { look, take, end, read, publish } = createWorld();
  take('early');
  look();
  take('late');
  end('early');
  publish(read().ids);
  for (let looks = 0; looks < 3; looks++) look();
  read();
  expect(read().after).toBe(0); // the writer of id 2 was under way when 1 was the last
  end('late');
  look();
  expect(read().ids).toEqual([2]);
});

it('stays below what was read and not dealt with', () => {
  const { look, take, end, read, publish } = createWorld();
  for (let n = 0; n < 5; n++) take('a');
  end('a');
  for (let looks = 0; looks < 3; looks++) look();
  expect(read(3).ids).toEqual([1, 2, 3]);
  publish([1, 3]);
  expect(read(3)).toMatchObject({ after: 0, ids: [2, 4, 5] });
  publish([2, 4]);
  expect(read(1)).toMatchObject({ after: 1, ids: [5] });
  expect(read()).toMatchObject({ after: 4, ids: [5] });
});

it('passes what is blocked, until it is lowered to that', () => {
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

it('does not rise by a read that began before a complete one was requested', () => {
  const { water, look, take, end } = createWorld();
  take('a');
  end('a');
  for (let looks = 0; looks < 3; looks++) look();
  water.begin(PARTS);
  water.restart();
  water.end(PARTS, []);
  expect(water.begin(PARTS)).toEqual([0]);
});

it('loses nothing, with ids committed in any order', () => {
  const world = createWorld();
  let state = 7;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
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
