import { describeOrigin, digits, isBusy, table, type Origin } from '../run/report.ts';
import {
  SIZES,
  PARTS,
  planFor,
  planInCells,
  PROFILE,
  WORK,
  type Coefficients,
  type Demand,
  type Part,
  type Plan,
  type Work,
} from './model.ts';
import type { Replay } from './replay.ts';

/** All results of a run. */
export interface ScaleReport extends Origin {
  parameters: { seconds: number; sockets: number };
  /** The demand of the mixed load. */
  demand: Demand;
  coefficients: Coefficients;
  replays: Replay[];
}

const ROUGH =
  '**Rough:** the costs were measured on a busy machine (see above), so small ones are off by a factor. Measure them on an idle one before you rely on a figure here.';
const PART_TITLES: Partial<Record<Part, string>> = { postgres: 'PostgreSQL', kafka: 'Kafka', redis: 'Redis' };
const titleOf = (part: Part) => PART_TITLES[part] ?? part;

/** Returns the texts between the marks in docs/scaling.md. */
export function describeScale(report: ScaleReport): Record<string, string> {
  const { seconds, sockets } = report.parameters;
  const origin = describeOrigin(report, `stretches of ${seconds} s · ${sockets} sockets`);
  return {
    costs: [origin, costTable(report.coefficients), otherTable(report.coefficients)].join('\n\n'),
    replay: replayTable(report.replays),
    capacity: [...(isBusy(report) ? [ROUGH] : []), capacityTable(report.coefficients)].join('\n\n'),
  };
}

const costTable = ({ cpuMs }: Coefficients) =>
  table(
    Object.keys(WORK) as Work[],
    { 'CPU-ms for': (kind) => WORK[kind][0], 'measured in': (kind) => WORK[kind][1] },
    Object.fromEntries(PARTS.map((part) => [titleOf(part), (kind: Work) => cpuMs[kind]?.[part] ?? ''])),
  );

const otherTable = (coefficients: Coefficients) =>
  table(
    Object.keys(SIZES) as (keyof typeof SIZES)[],
    { of: (name) => SIZES[name][0], unit: (name) => SIZES[name][1], 'measured in': (name) => SIZES[name][2] },
    { figure: (name) => coefficients[name] },
  );

/** Smaller differences, in CPU-ms per second, are noise, and not shown. */
const NOISE_MS = 2;

function replayTable(replays: readonly Replay[]): string {
  const rows = replays.flatMap(({ gateways, predicted, measured, memory }) => [
    ...PARTS.map((part) => ({
      ...{ gateways, of: titleOf(part), unit: 'CPU-ms/s', predicted: predicted[part], measured: measured[part] },
    })).filter((each) => Math.abs(each.predicted - each.measured) >= NOISE_MS),
    { gateways, of: 'memory of a gateway', unit: 'MiB', ...memory },
  ]);
  const offBy = ({ predicted, measured }: (typeof rows)[number]) =>
    `${predicted > measured ? '+' : '−'}${Math.abs((predicted / measured - 1) * 100).toFixed(0)} %`;
  return table<(typeof rows)[number]>(
    rows,
    { gateways: (row) => String(row.gateways), of: (row) => row.of, unit: (row) => row.unit },
    { predicted: (row) => row.predicted, measured: (row) => row.measured, off: offBy },
  );
}

const OWNERS = { '10⁴': 1e4, '10⁶': 1e6, '10⁸': 1e8 };

/** Shows what each number of owners needs, as one installation and, if that is too large, in cells. */
function capacityTable(coefficients: Coefficients): string {
  const columns = Object.entries(OWNERS).flatMap(([title, owners]) => {
    const one = { title: `${title} owners`, plan: planFor({ ...PROFILE, owners }, coefficients) };
    if (one.plan.broken.length === 0) return [one];
    const plan = planInCells({ ...PROFILE, owners }, coefficients);
    return [one, { title: `${title} in ${plan.cells} cells, each`, plan }];
  });
  const figures = table(
    ROWS,
    { '': ([title]) => title },
    Object.fromEntries(columns.map(({ title, plan }) => [title, ([, of]: Row) => of(plan)])),
  );
  const reasons = columns
    .filter(({ plan }) => plan.broken.length > 0)
    .map(({ title, plan }) => `- ${title}: ${plan.broken.join('; ')}`);
  return reasons.length === 0 ? figures : `${figures}\n\nToo much for one installation:\n\n${reasons.join('\n')}`;
}

const integer = (value: number) => Math.round(value).toLocaleString('en');
const compact = (value: number) => (value >= 1_000 ? integer(value) : digits(value));
const percent = (share: number) => `${digits(share * 100)} %`;

type Row = readonly [title: string, of: (plan: Plan) => string];
const ROWS: Row[] = [
  ['sockets', ({ sockets }) => integer(sockets)],
  ['requests/s', ({ requestsPerS }) => compact(requestsPerS)],
  ['changes/s', ({ changesPerS }) => compact(changesPerS)],
  ['**gateways**', ({ gateways, isFeasible }) => (isFeasible ? integer(gateways) : 'not feasible')],
  ['heap of each after a collection, MiB', ({ gatewayMiB, isFeasible }) => (isFeasible ? integer(gatewayMiB) : '')],
  ['all owners’ changes, share of CPU budget', ({ streamShare }) => percent(streamShare)],
  ['**tasks processes**', ({ tasks }) => integer(tasks)],
  ['the relay, share of its CPU budget', ({ relayShare }) => percent(relayShare)],
  ['**auth processes**', ({ auth }) => integer(auth)],
  ['**PostgreSQL of tasks**: cores', ({ tasksCores }) => compact(tasksCores)],
  ['connections', ({ tasksConnections }) => integer(tasksConnections)],
  ['write-ahead log, MB/s', ({ walBytesPerS }) => compact(walBytesPerS / 1e6)],
  ['storage, GB', ({ postgresBytes }) => compact(postgresBytes / 1e9)],
  ['a restore, hours', ({ restoreHours }) => compact(restoreHours)],
  ['**PostgreSQL of auth**: cores', ({ authCores }) => compact(authCores)],
  ['connections', ({ authConnections }) => integer(authConnections)],
  ['**Kafka**: cores', ({ kafkaCores }) => compact(kafkaCores)],
  ['in, MB/s', ({ kafkaInPerS }) => compact(kafkaInPerS / 1e6)],
  ['out to gateways, MB/s', ({ kafkaOutPerS, isFeasible }) => (isFeasible ? compact(kafkaOutPerS / 1e6) : '')],
  ['disks, GB', ({ kafkaDiskBytes }) => compact(kafkaDiskBytes / 1e9)],
];
