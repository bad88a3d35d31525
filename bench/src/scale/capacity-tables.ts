import { alignedTable } from '../report/table.ts';
import type { Coefficients } from './model/coefficients.ts';
import { PROFILE } from './model/profile.ts';
import { planFor, planInCells, POLICY, type Plan } from './model/plan.ts';
import { digits } from './tables.ts';

const OWNERS = [
  ['10⁴', 1e4],
  ['10⁶', 1e6],
  ['10⁸', 1e8],
] as const;

/** What the capacity tables assume of owners, and how full things may be. */
export function profileTable(): string {
  const { onlineShare, socketsPerOnline, perHour, tasksPerOwner, meanShare } = PROFILE;
  const { changeRetentionHours, kafkaRetentionHours, kafkaCopies } = PROFILE;
  const { utilisation, fewest, socketsPerGateway, limits } = POLICY;
  const { list, get, statistics, create, update, login, open } = perHour;
  return alignedTable(['assumed', 'value'], 1, [
    ['owners online in the busy hour', `${onlineShare * 100} %`],
    ['sockets of one who is online', String(socketsPerOnline)],
    ['of one who is online, in that hour: lists, tasks by id, statistics', `${list}, ${get}, ${statistics}`],
    ['creates, updates', `${create}, ${update}`],
    ['logins, sockets opened', `${login}, ${open}`],
    ['tasks of an owner', String(tasksPerOwner)],
    ['the mean of a week, of the busy hour', `${meanShare * 100} %`],
    [
      'changes are kept in PostgreSQL, in Kafka',
      `${changeRetentionHours} h, ${kafkaRetentionHours} h × ${kafkaCopies}`,
    ],
    ['how busy a core may be', `${utilisation * 100} %`],
    ['processes of a service, at the least', String(fewest)],
    ['sockets at a gateway, at the most', String(socketsPerGateway)],
    ['gateways of one installation, at the most', String(limits.gateways)],
    ['cores of one PostgreSQL primary', String(limits.postgresCores)],
    ['TiB in one PostgreSQL', String(limits.postgresBytes / 2 ** 40)],
    ['hours that a restore may take', String(limits.restoreHours)],
  ]);
}

/** What each number of owners needs, as one installation and, where that is too much for one, in cells. */
export function capacityTable(coefficients: Coefficients): string {
  const columns = OWNERS.flatMap(([title, owners]) => {
    const whole = planFor({ ...PROFILE, owners }, coefficients);
    const one = { title: `${title} owners`, plan: whole };
    if (whole.broken.length === 0) return [one];
    const plan = planInCells({ ...PROFILE, owners }, coefficients);
    return [one, { title: `${title} in ${plan.cells} cells, each`, plan }];
  });
  const rows = ROWS.map(({ title, of }) => [title, ...columns.map(({ plan }) => of(plan))]);
  const table = alignedTable(['', ...columns.map(({ title }) => title)], 1, rows);
  const reasons = columns
    .filter(({ plan }) => plan.broken.length > 0)
    .map(({ title, plan }) => `- ${title}: ${plan.broken.join('; ')}`);
  return reasons.length === 0 ? table : [table, 'Too much for one installation:', reasons.join('\n')].join('\n\n');
}

const ROWS: { title: string; of: (plan: Plan) => string }[] = [
  { title: 'sockets', of: ({ sockets }) => whole(sockets) },
  { title: 'requests/s', of: ({ requestsPerS }) => short(requestsPerS) },
  { title: 'changes/s', of: ({ changesPerS }) => short(changesPerS) },
  { title: '**gateways**', of: ({ gateways, isEnough }) => (isEnough ? whole(gateways) : 'none are enough') },
  {
    title: 'heap of each after a collection, MiB',
    of: ({ gatewayMiB, isEnough }) => (isEnough ? whole(gatewayMiB) : ''),
  },
  { title: 'everybody’s changes, of what it may take', of: ({ streamShare }) => percent(streamShare) },
  { title: '**tasks processes**', of: ({ tasks }) => whole(tasks) },
  { title: 'relays', of: ({ relays }) => whole(relays) },
  { title: 'the relay, of what its process may take', of: ({ relayShare }) => percent(relayShare) },
  { title: '**auth processes**', of: ({ auth }) => whole(auth) },
  { title: '**PostgreSQL of tasks**: cores', of: ({ postgres }) => short(postgres.tasks.cores) },
  { title: 'connections', of: ({ postgres }) => whole(postgres.tasks.connections) },
  { title: 'write-ahead log, MB/s', of: ({ walBytesPerS }) => short(walBytesPerS / 1e6) },
  { title: 'its flushes/s', of: ({ flushesPerS }) => short(flushesPerS) },
  { title: 'storage, GB', of: ({ postgresBytes }) => short(postgresBytes / 1e9) },
  { title: 'a dump, hours', of: ({ dumpHours }) => short(dumpHours) },
  { title: 'a restore, hours', of: ({ restoreHours }) => short(restoreHours) },
  { title: '**PostgreSQL of auth**: cores', of: ({ postgres }) => short(postgres.auth.cores) },
  { title: 'connections', of: ({ postgres }) => whole(postgres.auth.connections) },
  { title: '**Kafka**: cores', of: ({ kafka }) => short(kafka.cores) },
  { title: 'in, MB/s', of: ({ kafka }) => short(kafka.inBytesPerS / 1e6) },
  { title: 'out to gateways, MB/s', of: ({ kafka, isEnough }) => (isEnough ? short(kafka.outBytesPerS / 1e6) : '') },
  { title: 'disks, GB', of: ({ kafka }) => short(kafka.diskBytes / 1e9) },
  { title: '**Redis**: commands/s', of: ({ redisPerS }) => short(redisPerS) },
];

const whole = (value: number) => Math.round(value).toLocaleString('en');
const short = (value: number) => (value >= 1_000 ? whole(value) : digits(value));
const percent = (share: number) => `${digits(share * 100)} %`;
