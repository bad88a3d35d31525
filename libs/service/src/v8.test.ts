import { execFileSync } from 'node:child_process';
import { V8_FLAGS } from './v8.ts';

const V8 = new URL('./v8.ts', import.meta.url).href;
const SCRIPT = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { trimMemory } from ${JSON.stringify(V8)};
  const youngMiB = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20;
  const kept = [];
  for (let index = 0; index < 1e6; index++) kept.push({ index });
  const before = youngMiB();
  trimMemory();
  console.log(JSON.stringify({ before, after: youngMiB(), kept: kept.length, exposed: 'gc' in globalThis }));
`;

it('V8 knows the flags that we set: it would silently ignore unknown ones', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  const names = [...known.matchAll(/^ +--([a-z0-9-]+) \(/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(100);
  expect(names).toEqual(expect.arrayContaining(V8_FLAGS.map((flag) => flag.replace(/^--(no-)?|=.*$/g, ''))));
});

it('the young generation shrinks again after it has grown, and objects in use stay', () => {
  const args = ['--max-semi-space-size=32', '--input-type=module', '--eval', SCRIPT];
  const sizes = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Record<string, unknown>;
  expect(sizes.before).toBeGreaterThan(16);
  expect(sizes.after).toBeLessThan(4);
  expect(sizes).toMatchObject({ kept: 1e6, exposed: false });
});
