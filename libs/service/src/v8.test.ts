import { execFileSync } from 'node:child_process';
import { V8_FLAGS } from './v8.ts';

it('V8 knows the flags that we set: it would silently ignore unknown ones', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  const names = [...known.matchAll(/^ +--([a-z0-9-]+) \(/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(100);
  expect(names).toEqual(expect.arrayContaining(V8_FLAGS.map((flag) => flag.replace(/^--(no-)?|=.*$/g, ''))));
});
