import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findConsole } from './pages.ts';

it('the script contains the licence notices of the bundled libraries', () => {
  const script = readFileSync(join(findConsole()?.folder ?? '', 'console.js'), 'utf8');
  expect(script).toMatch(
    /^\/\*! preact \d+\.\d+\.\d+\n\nThe MIT License \(MIT\)\n\nCopyright \(c\) 2015-present Jason Miller/,
  );
  expect(script).toContain('The above copyright notice and this permission notice shall be included in all');
  expect(script.match(/^\/\*! /gm)).toHaveLength(1); // it is the only library
});
