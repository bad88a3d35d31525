import { createRandom } from '@taskmesh/testing';
import { createLowWater } from './low-water.ts';

const PARTS = [0];

it('loses no change, in whatever order ids are committed', () => {
  const water = createLowWater();
  const next = createRandom(7);
  const random = (below: number) => Math.floor(next() * below);
  const unpublished = new Set<number>();
  const writers = new Map<string, number[]>();
  const seen = new Set<number>();
  let last = 0;
  /** The rows of its ids appear when a transaction ends. */
  const end = (writer: string) => {
    for (const id of writers.get(writer) ?? []) unpublished.add(id);
    writers.delete(writer);
  };
  const publish = (limit: number, accepts: () => boolean) => {
    const [after = 0] = water.begin(PARTS);
    const ids = [...unpublished].toSorted((one, other) => one - other).filter((id) => id > after);
    const rows = ids.slice(0, limit);
    water.end(PARTS, rows.map((id) => ({ id: String(id), part: 0 }))); // prettier-ignore
    for (const id of rows.filter(accepts)) if (unpublished.delete(id)) seen.add(id);
    return rows.length;
  };
  for (let step = 0; step < 20_000; step++) {
    const writer = `w${random(6)}`;
    const dice = random(10);
    if (dice < 3 && step < 19_000) writers.set(writer, [...(writers.get(writer) ?? []), ++last]);
    else if (dice < 6) end(writer);
    else if (dice < 7) water.update({ last, writers: [...writers.keys()] });
    else publish(1 + random(5), () => random(8) > 0);
  }
  for (const writer of [...writers.keys()]) end(writer);
  while (publish(10, () => true) > 0);
  expect(seen.size).toBe(last);
});
