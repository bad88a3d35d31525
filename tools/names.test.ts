import { globSync } from 'node:fs';
import { basename, join } from 'node:path';

const files = globSync('services/*/src/**/*.{entity,entities,errors,repository,service,statements}.ts', {
  cwd: join(import.meta.dirname, '..'),
});
const nameOf = (file: string) => basename(file).split('.')[0] ?? '';

it('the inner files of a feature have names in the singular, unlike the feature', () => {
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => /[^s]s$/.test(nameOf(file)))).toEqual([]);
});
