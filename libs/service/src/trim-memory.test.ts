import { execFileSync } from 'node:child_process';

const TRIM = new URL('./trim-memory.ts', import.meta.url).href;
const SCRIPT = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { trimMemory } from ${JSON.stringify(TRIM)};
  const youngMiB = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20;
  const kept = [];
  for (let index = 0; index < 1e6; index++) kept.push({ index });
  const before = youngMiB();
  trimMemory();
  console.log(JSON.stringify({ before, after: youngMiB(), kept: kept.length, exposed: 'gc' in globalThis }));
`;

it('a young generation that grew shrinks again, and what is in use stays', () => {
  const args = ['--max-semi-space-size=32', '--input-type=module', '--eval', SCRIPT];
  const told = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Record<string, unknown>;
  expect(told.before).toBeGreaterThan(16);
  expect(told.after).toBeLessThan(4);
  expect(told).toMatchObject({ kept: 1e6, exposed: false });
});
