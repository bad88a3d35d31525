import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { dirname } from 'node:path';

/** Where, when and how figures were measured: part of every report. */
export interface Origin {
  /** RFC 3339 */
  startedAt: string;
  machine: ReturnType<typeof describeMachine>;
  /** The share of the cores' time that other processes used. */
  othersShare: number;
  /** PostgreSQL's version, if one was measured. */
  postgres?: string | undefined;
}

/** Above this share, the measurement should be repeated. */
const BUSY_SHARE = 0.05;

export const isBusy = ({ othersShare }: Pick<Origin, 'othersShare'>) => othersShare > BUSY_SHARE;

export function describeMachine() {
  const cores = cpus();
  return {
    system: `${type()} ${release().split('-')[0]}`,
    processor: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
}

/** The lines above a table. */
export function describeOrigin({ startedAt, machine, postgres, othersShare }: Origin, method: string): string {
  const { system, processor, cores, memoryGiB, node } = machine;
  const on = `${cores} cores (${processor}), ${memoryGiB} GiB, ${system} · Node ${node.slice(1)}`;
  const busy = `Other processes used ${Math.round(othersShare * 100)} % of the CPU: repeat this on an idle machine.`;
  return [
    `${startedAt.slice(0, 10)} · ${on}${postgres ? ` · PostgreSQL ${postgres}` : ''}`,
    method,
    ...(isBusy({ othersShare }) ? [busy] : []),
  ].join('  \n');
}

/** By column title: the text for a row, or a figure, which is shown with three digits. */
export type Columns<Row> = Record<string, (row: Row) => string | number>;

/** Formats a Markdown table that is also readable in a terminal. Words are aligned left, figures right. */
export function table<Row>(rows: readonly Row[], words: Columns<Row>, figures: Columns<Row>): string {
  const columns = [...Object.entries(words), ...Object.entries(figures)];
  const text = (value: string | number) => (typeof value === 'number' ? digits(value) : value);
  const cells = [columns.map(([title]) => title), ...rows.map((row) => columns.map(([, of]) => text(of(row))))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const isWord = (column: number) => column < Object.keys(words).length;
  const line = (row: readonly string[]) => {
    const padded = row.map((cell, column) => cell[isWord(column) ? 'padEnd' : 'padStart'](widths[column] ?? 0));
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, column) => (isWord(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [...cells.slice(0, 1), rule, ...cells.slice(1)].map(line).join('\n');
}

/** The columns for latencies and throughput. */
export const LATENCIES: Columns<{ p50Ms: number; p99Ms: number; perSecond: number }> = {
  'p50 ms': ({ p50Ms }) => p50Ms,
  'p99 ms': ({ p99Ms }) => p99Ms,
  'requests/s': ({ perSecond }) => Math.round(perSecond).toString(),
};

/** Formats three significant digits. */
export function digits(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) >= 1_000) return Math.round(value).toString();
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : value >= 0.1 ? 3 : 4);
}

/** `one round of 3 s`, `median of 3 rounds of 3 s`: for a table's heading. */
export const describeRounds = (rounds: number, seconds: number) =>
  `${rounds === 1 ? 'one round' : `median of ${rounds} rounds`} of ${seconds} s`;

export function writeReport(file: string, report: object): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}

/** Replaces the text between the marks of each name in a document. @throws when marks are missing */
export function publish(document: string, texts: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(texts)) {
    const before = readFileSync(document, 'utf8');
    const [begin, end] = sectionOf(before, name);
    if (begin < 0 || end < begin) throw new Error(`${document} has no marks for ${name} (<!-- ${name}: begin --> …).`);
    writeFileSync(document, `${before.slice(0, begin)}\n\n${text}\n\n${before.slice(end)}`);
  }
}

/** Returns where the text of this name begins and ends in a document; -1 for a missing mark. */
export function sectionOf(document: string, name: string): [begin: number, end: number] {
  const mark = `<!-- ${name}: begin -->`;
  const at = document.indexOf(mark);
  return [at < 0 ? at : at + mark.length, document.indexOf(`<!-- ${name}: end -->`)];
}
