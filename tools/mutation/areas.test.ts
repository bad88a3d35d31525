import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AREAS } from './areas.ts';

const cwd = join(import.meta.dirname, '../..');
const TESTS = globSync('{services,libs,tests}/**/*.test.ts', { cwd, exclude: (path) => path.includes('node_modules') });

/** A pattern for each name between its braces: one of them may be of a file that was renamed. */
function patternsOf(pattern: string): string[] {
  const [, before = '', names, after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return names === undefined ? [pattern] : names.split(',').map((name) => `${before}${name}${after}`);
}

it('the help names all areas', () => {
  const help = readFileSync(join(import.meta.dirname, 'main.help.txt'), 'utf8');
  expect(help).toContain(`  Areas:        ${Object.keys(AREAS).join(', ')}\n`);
});

describe.each(Object.entries(AREAS))('the area %s', (_name, { mutate, tests }) => {
  it('names files that are there', () => {
    const missing = mutate.flatMap(patternsOf).filter((pattern) => globSync(pattern, { cwd }).length === 0);
    expect(missing).toEqual([]);
  });

  it('names tests that are there', () => {
    expect(tests.filter((part) => !TESTS.some((path) => path.includes(part)))).toEqual([]);
  });
});
