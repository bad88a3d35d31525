import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { changed, stepsOf } from './steps.ts';

const ROOT = join(import.meta.dirname, '../../..');

it.each([
  { guide: 'add-a-field', files: 23 },
  { guide: 'add-a-rest-path', files: 4 },
  { guide: 'add-a-service', files: 28 },
])('the steps of $guide still fit the files that they change', ({ guide, files }) => {
  const texts = new Map<string, string>();
  for (const step of stepsOf(readFileSync(join(ROOT, 'docs/guides', `${guide}.md`), 'utf8'))) {
    const { file } = step;
    if ('text' in step) {
      expect([file, existsSync(join(ROOT, file))]).toEqual([file, false]);
      texts.set(file, step.text);
    } else texts.set(file, changed(texts.get(file) ?? readFileSync(join(ROOT, file), 'utf8'), step));
  }
  expect(texts.size).toBeGreaterThanOrEqual(files);
});

describe('a step', () => {
  const change = { file: 'a.ts', before: 'one\n', after: 'one\ntwo\n' };

  it('changes lines that are there once', () => {
    expect(changed('zero\none\nthree\n', change)).toBe('zero\none\ntwo\nthree\n');
  });

  it.each([
    { text: 'three\n', problem: 'does not have' },
    { text: 'one more\n', problem: 'does not have' },
    { text: 'no one\n', problem: 'does not have' },
    { text: 'one\none\n', problem: 'more than once' },
  ])('fits no other file: $text', ({ text, problem }) => {
    expect(() => changed(text, change)).toThrow(problem);
  });

  it('is read from a block under the name of its file, or from differences, in a list as well', () => {
    const guide = [
      'A `word`:\n\n```sh\nnpm install\n```\n',
      '`b.ts`, which is new:\n\n```ts\nconst b = 1;\n```\n',
      '1. `c.ts`:\n\n   `c.ts`, too:\n\n   ```ts\n   const c = 1;\n   ```\n',
      '1. **So**:\n\n   ```diff\n   --- a.ts\n   @@\n    one\n   +two\n   @@\n   -x\n   +y\n   --- c.ts\n   @@\n   +z\n    end\n   ```\n',
    ].join('\n');
    expect(stepsOf(guide)).toEqual([
      { file: 'b.ts', text: 'const b = 1;\n' },
      { file: 'c.ts', text: 'const c = 1;\n' },
      change,
      { file: 'a.ts', before: 'x\n', after: 'y\n' },
      { file: 'c.ts', before: 'end\n', after: 'z\nend\n' },
    ]);
  });
});
