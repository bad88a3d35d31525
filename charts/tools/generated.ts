import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withValuesTable } from './readme.ts';
import { readValues } from './values-schema.ts';

export const CHARTS = join(import.meta.dirname, '..');
export const CHART_NAMES = ['taskmesh', 'taskmesh-data'];

/** By file, what is made from a chart's values.yaml. */
export function generatedFiles(chart: string): Map<string, string> {
  const file = (name: string) => join(CHARTS, chart, name);
  const { schema, documented } = readValues(readFileSync(file('values.yaml'), 'utf8'));
  return new Map([
    [file('values.schema.json'), `${JSON.stringify(schema, undefined, 2)}\n`],
    [file('README.md'), withValuesTable(readFileSync(file('README.md'), 'utf8'), documented)],
  ]);
}
