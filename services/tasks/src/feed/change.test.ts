import { PARTITIONS, partOf } from './change.ts';

it('assigns an owner always to the same part: stored changes depend on it', () => {
  expect(partOf('01890000-0000-7000-8000-0000000000aa')).toBe(4);
  expect(partOf('c2d29867-3d0b-4497-9191-18a9d8ee7830')).toBe(6);
});

it('distributes owners evenly, even if their ids have the same prefix', () => {
  const counts = Array<number>(PARTITIONS).fill(0);
  for (let n = 0; n < 8_000; n++) {
    const part = partOf(`01890000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`);
    counts[part] = (counts[part] ?? 0) + 1;
  }
  for (const count of counts) expect(count).toBeGreaterThan(800);
});
