import { digits } from '../figures.ts';
import { table, type Column } from '../report/table.ts';
import type { Coefficients } from './model/coefficients.ts';
import { PROFILE } from './model/profile.ts';
import { planFor, planInCells, POLICY, type Plan } from './model/plan.ts';

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
  const rows: [assumed: string, value: string][] = [
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
  ];
  return table(rows, { words: [['assumed', ([assumed]) => assumed]], figures: [['value', ([, value]) => value]] });
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
  const figures = table(ROWS, {
    words: [['', ([title]) => title]],
    figures: columns.map(({ title, plan }) => [title, ([, of]) => of(plan)]),
  });
  const reasons = columns
    .filter(({ plan }) => plan.broken.length > 0)
    .map(({ title, plan }) => `- ${title}: ${plan.broken.join('; ')}`);
  return reasons.length === 0 ? figures : [figures, 'Too much for one installation:', reasons.join('\n')].join('\n\n');
}

const ROWS: Column<Plan>[] = [
  ['sockets', ({ sockets }) => whole(sockets)],
  ['requests/s', ({ requestsPerS }) => short(requestsPerS)],
  ['changes/s', ({ changesPerS }) => short(changesPerS)],
  ['**gateways**', ({ gateways, isEnough }) => (isEnough ? whole(gateways) : 'none are enough')],
  ['heap of each after a collection, MiB', ({ gatewayMiB, isEnough }) => (isEnough ? whole(gatewayMiB) : '')],
  ['everybody’s changes, of what it may take', ({ streamShare }) => percent(streamShare)],
  ['**tasks processes**', ({ tasks }) => whole(tasks)],
  ['relays', ({ relays }) => whole(relays)],
  ['the relay, of what its process may take', ({ relayShare }) => percent(relayShare)],
  ['**auth processes**', ({ auth }) => whole(auth)],
  ['**PostgreSQL of tasks**: cores', ({ postgres }) => short(postgres.tasks.cores)],
  ['connections', ({ postgres }) => whole(postgres.tasks.connections)],
  ['write-ahead log, MB/s', ({ walBytesPerS }) => short(walBytesPerS / 1e6)],
  ['its flushes/s', ({ flushesPerS }) => short(flushesPerS)],
  ['storage, GB', ({ postgresBytes }) => short(postgresBytes / 1e9)],
  ['a dump, hours', ({ dumpHours }) => short(dumpHours)],
  ['a restore, hours', ({ restoreHours }) => short(restoreHours)],
  ['**PostgreSQL of auth**: cores', ({ postgres }) => short(postgres.auth.cores)],
  ['connections', ({ postgres }) => whole(postgres.auth.connections)],
  ['**Kafka**: cores', ({ kafka }) => short(kafka.cores)],
  ['in, MB/s', ({ kafka }) => short(kafka.inBytesPerS / 1e6)],
  ['out to gateways, MB/s', ({ kafka, isEnough }) => (isEnough ? short(kafka.outBytesPerS / 1e6) : '')],
  ['disks, GB', ({ kafka }) => short(kafka.diskBytes / 1e9)],
  ['**Redis**: commands/s', ({ redisPerS }) => short(redisPerS)],
];

const whole = (value: number) => Math.round(value).toLocaleString('en');
const short = (value: number) => (value >= 1_000 ? whole(value) : digits(value));
const percent = (share: number) => `${digits(share * 100)} %`;
