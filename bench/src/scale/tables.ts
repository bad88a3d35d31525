import { machineLine } from '../report/publish.ts';
import { alignedTable } from '../report/table.ts';
import { OTHERS } from './model/coefficients.ts';
import { KINDS, PARTS, WORK, type Part, type Work } from './model/work.ts';
import type { Replay } from './replay.ts';
import type { ScaleReport } from './report.ts';

/** What is further off is named. */
const OFF = 0.2;
/** Of a second, and of a core: what is less is the clock's grain. */
const GRAIN_MS = 2;
/** With more of the machine in others' hands, the figures say little. */
const BUSY = 0.05;

const TITLES: Record<Part, string> = {
  gateway: 'gateway',
  tasks: 'tasks',
  auth: 'auth',
  backup: 'backup',
  postgres: 'PostgreSQL',
  kafka: 'Kafka',
  redis: 'Redis',
};

/** In which stretch of a run each was measured. */
const MEASURED_IN: Record<Work, string> = {
  servers: 'nothing, the gateway held',
  tasks: 'nothing, the gateway held',
  auth: 'nothing, the gateway held',
  gateway: 'nothing',
  list: 'list',
  get: 'get',
  statistics: 'statistics',
  login: 'login',
  create: 'create',
  update: 'update',
  round: 'single commits',
  change: 'a backlog, its vacuum',
  fetch: 'single commits; Kafka: beside more readers',
  record: 'a backlog; Kafka: beside more readers',
  delivered: 'delivered',
  further: 'further',
  open: 'sockets opened',
  socket: 'sockets held',
};

/** When, where and how. */
export function describeRun({ startedAt, machine, parameters, othersShare }: ScaleReport): string {
  const { seconds, sockets, backlog } = parameters;
  const busy = `Others took ${Math.round(othersShare * 100)} % of the machine meanwhile: to be taken again on a quiet one.`;
  return [
    machineLine(startedAt, machine),
    `stretches of ${seconds} s · ${sockets} sockets · a backlog of ${backlog} changes`,
    ...(isBusy({ othersShare }) ? [busy] : []),
  ].join('  \n');
}

export function isBusy({ othersShare }: Pick<ScaleReport, 'othersShare'>): boolean {
  return othersShare > BUSY;
}

/** CPU-ms of each work in each part. */
export function costTable({ coefficients: { cpuMs } }: ScaleReport): string {
  const rows = KINDS.map((kind) => [
    WORK[kind],
    MEASURED_IN[kind],
    ...PARTS.map((part) => {
      const ms = cpuMs[kind]?.[part];
      return ms === undefined ? '' : digits(ms);
    }),
  ]);
  return alignedTable(['CPU-ms for', 'measured in', ...PARTS.map((part) => TITLES[part])], 2, rows);
}

export function otherTable({ coefficients }: ScaleReport): string {
  const rows = OTHERS.map(({ name, unit, source, of }) => [name, unit, source, digits(of(coefficients))]);
  return alignedTable(['of', 'unit', 'measured in', 'figure'], 3, rows);
}

export function replayTable({ replays }: ScaleReport): string {
  const rows = replays.flatMap((replay) => [
    ...PARTS.map((part) => {
      const [predicted, measured] = [replay.predicted[part], replay.measured[part]];
      return [
        String(replay.gateways),
        TITLES[part],
        'CPU-ms/s',
        digits(predicted),
        digits(measured),
        offText(predicted, measured),
      ];
    }),
    [
      String(replay.gateways),
      'memory of a gateway',
      'MiB',
      ...[replay.memory.predicted, replay.memory.measured].map((bytes) => digits(bytes / 2 ** 20)),
      offText(replay.memory.predicted, replay.memory.measured),
    ],
  ]);
  return alignedTable(['gateways', 'of', 'unit', 'foretold', 'measured', 'off'], 3, rows);
}

/** In words, where the model is wrong. */
export function whereOff({ replays }: ScaleReport): string[] {
  return replays.flatMap((replay) =>
    offParts(replay).map(
      ({ name, off }) =>
        `${replay.gateways === 1 ? 'one gateway' : `${replay.gateways} gateways`}: ${name} ${off > 0 ? 'takes less' : 'takes more'} than foretold (${percent(off)})`,
    ),
  );
}

function offParts({ predicted, measured, memory }: Replay): { name: string; off: number }[] {
  const all = [
    ...PARTS.filter((part) => Math.abs(predicted[part] - measured[part]) > GRAIN_MS).map((part) => ({
      name: TITLES[part],
      off: offBy(predicted[part], measured[part]),
    })),
    { name: 'the memory of a gateway', off: offBy(memory.predicted, memory.measured) },
  ];
  return all.filter(({ off }) => Math.abs(off) > OFF);
}

/** How much too much was foretold. */
function offBy(predicted: number, measured: number): number {
  return predicted / measured - 1;
}

function offText(predicted: number, measured: number): string {
  return Math.abs(predicted - measured) < GRAIN_MS && measured < 10 ? '' : percent(offBy(predicted, measured));
}

function percent(share: number): string {
  return `${share > 0 ? '+' : '−'}${Math.abs(share * 100).toFixed(0)} %`;
}

/** Three that count. */
export function digits(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) >= 1_000) return Math.round(value).toString();
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : value >= 0.1 ? 3 : 4);
}
