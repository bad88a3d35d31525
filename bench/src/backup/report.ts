import { median } from '../figures.ts';
import type { Machine } from '../report/machine.ts';
import { alignedTable } from '../report/table.ts';

/** One kind of work: the seconds of each round. */
export interface Timed {
  work: 'make' | 'load' | 'restore';
  by: string;
  seconds: number[];
  /** Of the product: what its process took over what it had before, at the worst of each round, and its children all together. */
  memory?: { own: number; children: number }[];
}

export interface BackupReport {
  /** RFC 3339 */
  startedAt: string;
  machine: Machine;
  /** Where the server is from, and which client stood beside it. */
  server: string;
  client: string | undefined;
  rows: number;
  /** Of the dump of the tasks, as text. */
  dumpBytes: number;
  timed: Timed[];
}

const TITLES: Record<Timed['work'], string> = {
  make: 'dump and compress',
  load: 'load a dump',
  restore: 'whole restore',
};
const COLUMNS = ['work', 'by', 's', 'MB/s', 'rows/s', "× PostgreSQL's own", 'MiB over idle', 'children MiB'];
const WORDS = 2;

/** The figures as a Markdown table. */
export function backupTable({ rows, dumpBytes, timed }: BackupReport): string {
  const lines = timed.map(({ work, by, seconds, memory = [] }) => {
    const time = median(seconds);
    const other = timed.find((one) => one.work === work && one.by !== OURS);
    const ratio = by === OURS && other ? (median(other.seconds) / time).toFixed(2) : '';
    const speeds = [(dumpBytes / 1e6 / time).toFixed(1), Math.round(rows / time).toString()];
    const worst = (which: 'own' | 'children') =>
      memory.length === 0 ? '' : Math.max(...memory.map((round) => round[which])).toFixed(0);
    return [TITLES[work], by, time.toFixed(2), ...speeds, ratio, worst('own'), worst('children')];
  });
  return alignedTable(COLUMNS, WORDS, lines);
}

export const OURS = 'Taskmesh';

export function backupHeading({ startedAt, machine, server, client, rows, dumpBytes, timed }: BackupReport): string {
  const { system, processor, cores, memoryGiB, node } = machine;
  const rounds = timed[0]?.seconds.length ?? 0;
  return [
    `${startedAt.slice(0, 10)} · ${cores} cores (${processor}), ${memoryGiB} GiB, ${system} · Node ${node.slice(1)}`,
    `${server}, ${client ?? 'no client'} · ${rows} tasks, a dump of ${(dumpBytes / 1e6).toFixed(1)} MB · median of ${rounds} rounds, taking turns`,
  ].join('  \n');
}
