import { isDeepStrictEqual } from 'node:util';
import { combine } from '../../figures.ts';
import { BACKUP, type Coefficients } from './coefficients.ts';
import { MOST_RELAYS, workOf, type Demand, type Deployment } from './demand.ts';
import { cpuOf, type Amounts } from './work.ts';

/** How full things may be, and how large one installation may get. Choices, not measurements. */
export const POLICY = {
  /** Of a core in the busy hour. A Node process has one. */
  utilisation: 0.6,
  fewest: 2,
  /** As many as were measured at one gateway, and what its chart scales by. */
  socketsPerGateway: 2_000,
  poolSize: 10,
  limits: { gateways: 200, postgresCores: 32, postgresBytes: 4 * 2 ** 40, restoreHours: 12 },
};

/** CPU-ms in a second that a process may take. */
const BUDGET = POLICY.utilisation * 1_000;

export type Plan = ReturnType<typeof planFor>;

const MOST_CELLS = 100_000;

/** What these owners need as one installation. */
export function planFor(demand: Demand, coefficients: Coefficients) {
  const { fewest } = POLICY;
  let deployment: Deployment = { gateways: fewest, tasks: fewest, auth: fewest };
  // More processes are more work; it grows until it is enough.
  for (;;) {
    const work = workOf(demand, deployment, coefficients.roundMs);
    const { isEnough, ...needed } = neededFor(work, deployment, coefficients);
    const larger = combine([deployment, needed], (counts) => Math.max(...counts));
    if (isDeepStrictEqual(larger, deployment)) return { ...describe(demand, work, deployment, coefficients), isEnough };
    deployment = larger;
  }
}

/** The same in as few installations side by side as are enough, each for its share of the owners. */
export function planInCells(demand: Demand, coefficients: Coefficients): Plan {
  for (let cells = 1; ; cells = cells < 20 ? cells + 1 : Math.ceil(cells * 1.05)) {
    const plan = planFor({ ...demand, owners: demand.owners / cells }, coefficients);
    if (plan.broken.length === 0 || cells > MOST_CELLS) return { ...plan, cells };
  }
}

function neededFor(work: Amounts, { gateways }: Deployment, { cpuMs }: Coefficients) {
  const { socketsPerGateway, fewest } = POLICY;
  const cpu = cpuOf(work, cpuMs);
  // What each gateway does for itself grows with their number and leaves less for the rest.
  const own = cpuOf(ownOfGateways(work), cpuMs).gateway / gateways;
  const shared = cpu.gateway - own * gateways;
  const isEnough = own < BUDGET;
  const forCpu = isEnough ? Math.ceil(shared / (BUDGET - own)) : 0;
  const forSockets = Math.ceil((work.socket ?? 0) / socketsPerGateway);
  return {
    gateways: Math.max(fewest, forCpu, forSockets),
    tasks: Math.max(fewest, Math.ceil(cpu.tasks / BUDGET)),
    auth: Math.max(fewest, Math.ceil(cpu.auth / BUDGET)),
    /** Whether so many gateways are enough, or no number is. */
    isEnough,
  };
}

const ownOfGateways = ({ gateway, fetch, record }: Amounts): Amounts => ({ gateway, fetch, record });
const ofRelays = ({ round, change }: Amounts): Amounts => ({ round, change });

function describe(demand: Demand, work: Amounts, deployment: Deployment, coefficients: Coefficients) {
  const { cpuMs, bytes, flushes, redis } = coefficients;
  const { gateways, tasks, auth } = deployment;
  const { owners, tasksPerOwner, meanShare, changeRetentionHours, kafkaRetentionHours, kafkaCopies } = demand;
  const { login = 0, list = 0, get = 0, statistics = 0, create = 0, update = 0, change = 0, socket = 0 } = work;
  const cpu = cpuOf(work, cpuMs);
  const cpuOfAuth = cpuOf({ login, auth, gateway: work.gateway ?? 0 }, cpuMs).postgres;
  const relays = Math.min(tasks, MOST_RELAYS);
  const inBytesPerS = change * bytes.record;
  const rows = owners * tasksPerOwner;
  const plan = {
    ...deployment,
    /** How many installations the owners are divided among; all other figures are those of one. */
    cells: 1,
    sockets: socket,
    changesPerS: change,
    requestsPerS: list + get + statistics + create + update + login,
    /** Of the CPU time that a gateway may take, what goes into reading everybody's changes. */
    streamShare: cpuOf({ fetch: work.fetch ?? 0, record: work.record ?? 0 }, cpuMs).gateway / gateways / BUDGET,
    relays,
    /** Of the CPU time that a tasks process may take, what its relay needs. */
    relayShare: cpuOf(ofRelays(work), cpuMs).tasks / relays / BUDGET,
    gatewayMiB: (bytes.gateway + (socket / gateways) * bytes.socket) / 2 ** 20,
    postgres: {
      tasks: { cores: (cpu.postgres - cpuOfAuth) / BUDGET, connections: tasks * POLICY.poolSize + tasks },
      auth: { cores: cpuOfAuth / BUDGET, connections: auth * POLICY.poolSize },
    },
    postgresBytes:
      rows * bytes.task + owners * bytes.feed + change * meanShare * changeRetentionHours * 3_600 * bytes.change,
    walBytesPerS: change * bytes.wal,
    flushesPerS: change * flushes,
    kafka: {
      cores: cpu.kafka / BUDGET,
      inBytesPerS,
      outBytesPerS: inBytesPerS * gateways,
      diskBytes: inBytesPerS * meanShare * kafkaRetentionHours * 3_600 * kafkaCopies,
    },
    redisPerS: login * redis.login + gateways * redis.gatewaySecond,
    dumpHours: rows / BACKUP.dumpRowsPerS / 3_600,
    restoreHours: rows / BACKUP.restoreRowsPerS / 3_600,
  };
  const { limits } = POLICY;
  const rules: [isBroken: boolean, why: string][] = [
    [plan.streamShare > 0.5, 'reading everybody’s changes takes more than half of each gateway'],
    [gateways > limits.gateways, `more than ${limits.gateways} gateways`],
    [plan.relayShare > 1, `${MOST_RELAYS} relays are not enough`],
    [
      plan.postgres.tasks.cores > limits.postgresCores,
      `one PostgreSQL primary of more than ${limits.postgresCores} cores`,
    ],
    [plan.postgresBytes > limits.postgresBytes, `more than ${limits.postgresBytes / 2 ** 40} TiB in one PostgreSQL`],
    [plan.restoreHours > limits.restoreHours, `a restore of more than ${limits.restoreHours} hours`],
  ];
  /** Why this is more than one installation can be; empty: it is not. */
  return { ...plan, broken: rules.filter(([isBroken]) => isBroken).map(([, why]) => why) };
}
