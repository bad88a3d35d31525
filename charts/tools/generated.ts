import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readValues, type Documented } from './values-schema.ts';

export const CHARTS = join(import.meta.dirname, '..');
export const CHART_NAMES = ['taskmesh', 'taskmesh-data'];

const BEGIN = '<!-- values: made from values.yaml by `npm run charts:generate` -->';
const END = '<!-- /values -->';

/** The files generated from a chart's values.yaml, with their contents. */
export function generatedFiles(chart: string): Map<string, string> {
  const file = (name: string) => join(CHARTS, chart, name);
  const { schema, documented } = readValues(readFileSync(file('values.yaml'), 'utf8'));
  return new Map([
    [file('values.schema.json'), `${JSON.stringify(schema, undefined, 2)}\n`],
    [file('README.md'), withValuesTable(readFileSync(file('README.md'), 'utf8'), documented)],
  ]);
}

/** Returns a chart's README with an updated table of values. */
function withValuesTable(readme: string, documented: readonly Documented[]): string {
  const [before, rest] = readme.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`A README needs ${BEGIN} and ${END}`);
  const rows = documented.map(
    (each) => `| \`${each.path}\` | ${defaultOf(each)} | ${each.description.replaceAll('|', '\\|')} |`,
  );
  return [before + BEGIN, '', '| value | default | |', '| --- | --- | --- |', ...rows, '', END + after].join('\n');
}

function defaultOf({ default: value }: Documented): string {
  if (value === undefined) return '';
  return `\`${JSON.stringify(value).replaceAll('|', '\\|')}\``;
}
