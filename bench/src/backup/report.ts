import { median } from '../figures.ts';
import { describeOrigin, type Origin } from '../report/machine.ts';
import { table } from '../report/table.ts';

/** One kind of work: the seconds of each round. */
export interface Timed {
  work: 'make' | 'load' | 'restore';
  by: string;
  seconds: number[];
  /** Of the product: what its process took over what it had before, at the worst of each round, and its children all together. */
  memory?: { own: number; children: number }[];
}

export interface BackupReport extends Origin {
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
export const OURS = 'Taskmesh';

/** Where, when and how, and the figures. */
export function describeBackups(report: BackupReport): Record<string, string> {
  const { server, client, rows, dumpBytes, timed } = report;
  const rounds = timed[0]?.seconds.length ?? 0;
  const how = `${server}, ${client ?? 'no client'} · ${rows} tasks, a dump of ${(dumpBytes / 1e6).toFixed(1)} MB · median of ${rounds} rounds, taking turns`;
  const timesTheirs = ({ work, by, seconds }: Timed) => {
    const other = timed.find((one) => one.work === work && one.by !== OURS);
    return by === OURS && other ? (median(other.seconds) / median(seconds)).toFixed(2) : '';
  };
  const worst = ({ memory = [] }: Timed, which: 'own' | 'children') =>
    memory.length === 0 ? '' : Math.max(...memory.map((round) => round[which])).toFixed(0);
  const figures = table(timed, {
    words: [
      ['work', ({ work }) => TITLES[work]],
      ['by', ({ by }) => by],
    ],
    figures: [
      ['s', ({ seconds }) => median(seconds).toFixed(2)],
      ['MB/s', ({ seconds }) => (dumpBytes / 1e6 / median(seconds)).toFixed(1)],
      ['rows/s', ({ seconds }) => Math.round(rows / median(seconds)).toString()],
      ["× PostgreSQL's own", timesTheirs],
      ['MiB over idle', (row) => worst(row, 'own')],
      ['children MiB', (row) => worst(row, 'children')],
    ],
  });
  return {
    'backup figures': `${describeOrigin({ ...report, machine: { ...report.machine, postgres: '' } }, how)}\n\n${figures}`,
  };
}
