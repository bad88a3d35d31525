import type { BesideLogins } from '../beside-logins/measure-beside-logins.ts';
import type { Measured } from '../figures.ts';
import { OPERATIONS } from '../operations.ts';

const COLUMNS = [
  'operation',
  'target',
  'over',
  'server',
  'PostgreSQL',
  'sum',
  '× bare',
  'Redis',
  'Kafka',
  'p50 ms',
  'p99 ms',
  'requests/s',
];
/** So many columns at the left hold words. */
const WORDS = 3;

/** The figures as a Markdown table, aligned, so that it also reads well in a terminal. */
export function table(measured: readonly Measured[]): string {
  const rows = OPERATIONS.flatMap((operation) => {
    const cells = measured.filter((cell) => cell.operation === operation);
    const bare = cells.find(({ target }) => target === 'bare');
    return cells.map((cell) => rowOf(cell, bare));
  });
  return alignedTable(COLUMNS, WORDS, rows);
}

const LOGIN_COLUMNS = ['lists at', 'alone p50 ms', 'p99 ms', 'beside logins p50 ms', 'p99 ms', 'p99 ×', 'logins/s'];

/** The same for lists beside logins. */
export function besideLoginsTable(measured: readonly BesideLogins[]): string {
  const rows = measured.map(({ target, alone, beside, ratio, loginsPerSecond }) => [
    target,
    ...[alone.p50Ms, alone.p99Ms, beside.p50Ms, beside.p99Ms].map(ms),
    ratio.toFixed(2),
    Math.round(loginsPerSecond).toString(),
  ]);
  return alignedTable(LOGIN_COLUMNS, 1, rows);
}

/** Rows under their titles; the first `words` columns stand at the left, figures at the right. */
export function alignedTable(titles: readonly string[], words: number, rows: readonly string[][]): string {
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${row.map((text, column) => (column < words ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, column) => (column < words ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(titles), line(rule), ...rows.map(line)].join('\n');
}

function rowOf(cell: Measured, bare: Measured | undefined): string[] {
  const { server, postgres, redis, kafka } = cell.cpuByRole;
  const hasOthers = cell.target === 'separate';
  return [
    cell.operation,
    cell.target,
    cell.protocol === 'rest' ? 'REST' : 'GraphQL',
    ms(server),
    ms(postgres),
    ms(cell.cpuSum),
    bare && bare !== cell ? (cell.cpuSum / bare.cpuSum).toFixed(2) : '',
    hasOthers ? ms(redis) : '',
    hasOthers ? ms(kafka) : '',
    ms(cell.p50Ms),
    ms(cell.p99Ms),
    Math.round(cell.perSecond).toString(),
  ];
}

/** Three digits that count. */
function ms(value: number): string {
  return value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3);
}
