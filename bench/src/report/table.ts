import { digits } from '../figures.ts';

/** A column's title, and what a row has there: words, or a figure of which three digits are shown. */
export type Column<Row> = readonly [title: string, of: (row: Row) => string | number];

/** A Markdown table, aligned, so that it also reads well in a terminal. Words stand at the left, figures at the right. */
export function table<Row>(
  rows: readonly Row[],
  { words, figures }: { words: readonly Column<Row>[]; figures: readonly Column<Row>[] },
): string {
  const columns = [...words, ...figures];
  const text = (value: string | number) => (typeof value === 'number' ? digits(value) : value);
  const cells = rows.map((row) => columns.map(([, of]) => text(of(row))));
  const titles = columns.map(([title]) => title);
  const widths = titles.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const isWord = (column: number) => column < words.length;
  const line = (row: readonly string[]) => {
    const pad = (cell: string, column: number) =>
      isWord(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
    return `| ${row.map(pad).join(' | ')} |`;
  };
  const rule = widths.map((width, column) => (isWord(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [titles, rule, ...cells].map(line).join('\n');
}
