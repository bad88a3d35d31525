import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, resolveConfig } from 'prettier';
import { changed, stepsOf } from './steps.ts';

const ROOT = join(import.meta.dirname, '../../..');

it.each([
  { guide: 'add-a-field', files: 21 },
  { guide: 'add-a-rest-path', files: 4 },
  { guide: 'add-a-service', files: 28 },
])('the steps of $guide still fit the files that they change, and leave them formatted', async ({ guide, files }) => {
  const texts = new Map<string, string>();
  for (const step of stepsOf(readFileSync(join(ROOT, 'docs/guides', `${guide}.md`), 'utf8'))) {
    const { file } = step;
    if ('text' in step) {
      expect([file, existsSync(join(ROOT, file))]).toEqual([file, false]);
      texts.set(file, step.text);
    } else texts.set(file, changed(texts.get(file) ?? readFileSync(join(ROOT, file), 'utf8'), step));
  }
  expect(texts.size).toBeGreaterThanOrEqual(files);
  const config = await resolveConfig(join(ROOT, 'package.json'));
  for (const [file, text] of texts)
    if (/\.(tsx?|mjs|json)$/.test(file))
      expect([file, await check(text, { ...config, filepath: file })]).toEqual([file, true]);
});
