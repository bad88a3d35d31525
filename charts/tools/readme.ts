import type { Documented } from './values-schema.ts';

const BEGIN = '<!-- values: made from values.yaml by `npm run charts:generate` -->';
const END = '<!-- /values -->';

/** A chart's README with its table of values anew. */
export function withValuesTable(readme: string, documented: readonly Documented[]): string {
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
