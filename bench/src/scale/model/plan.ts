import { BACKUP, type Coefficients } from './coefficients.ts';
import { MOST_RELAYS, workOf, type Demand, type Deployment } from './demand.ts';
import { cpuOf, type Amounts } from './work.ts';

/** How full things may be, and how large one installation may get. Choices, not measurements. */
export interface Policy {
  /** Of a core in the busy hour. A Node process has one. */
  utilisation: number;
  fewest: number;
  /** As many as were measured at one gateway, and what its chart scales by. */
  socketsPerGateway: number;
  poolSize: number;
  limits: { gateways: number; postgresCores: number; postgresBytes: number; restoreHours: number };
}

export const POLICY: Policy = {
  utilisation: 0.6,
  fewest: 2,
  socketsPerGateway: 2_000,
  poolSize: 10,
  limits: { gateways: 200, postgresCores: 32, postgresBytes: 4 * 2 ** 40, restoreHours: 12 },
};

export interface Plan extends Deployment {
  /** How many installations the owners are divided among; all other figures are those of one. */
  cells: number;
  sockets: number;
  changesPerS: number;
  requestsPerS: number;
  /** Of the CPU time that a gateway may take, what goes into reading everybody's changes. */
  streamShare: number;
  relays: number;
  /** Of the CPU time that a tasks process may take, what its relay needs. */
  relayShare: number;
  gatewayMiB: number;
  postgres: Record<'tasks' | 'auth', { cores: number; connections: number }>;
  postgresBytes: number;
  walBytesPerS: number;
  flushesPerS: number;
  kafka: { cores: number; inBytesPerS: number; outBytesPerS: number; diskBytes: number };
  redisPerS: number;
  dumpHours: number;
  restoreHours: number;
  /** Whether so many gateways are enough, or no number is. */
  isEnough: boolean;
  /** Why this is more than one installation can be; empty: it is not. */
  broken: string[];
}

const MOST_CELLS = 100_000;

/** What these owners need as one installation. */
export function planFor(demand: Demand, coefficients: Coefficients, policy = POLICY): Plan {
  const { fewest } = policy;
  let deployment: Deployment = { gateways: fewest, tasks: fewest, auth: fewest };
  // More processes are more work; it grows until it is enough.
  for (;;) {
    const work = workOf(demand, deployment, coefficients.roundMs);
    const needed = neededFor(work, deployment, coefficients, policy);
    const isSettled =
      needed.gateways <= deployment.gateways && needed.tasks <= deployment.tasks && needed.auth <= deployment.auth;
    if (isSettled) return { ...describe(demand, work, deployment, coefficients, policy), isEnough: needed.isEnough };
    deployment = {
      gateways: Math.max(needed.gateways, deployment.gateways),
      tasks: Math.max(needed.tasks, deployment.tasks),
      auth: Math.max(needed.auth, deployment.auth),
    };
  }
}

/** The same in as few installations side by side as are enough, each for its share of the owners. */
export function planInCells(demand: Demand, coefficients: Coefficients, policy = POLICY): Plan {
  for (let cells = 1; ; cells = cells < 20 ? cells + 1 : Math.ceil(cells * 1.05)) {
    const plan = planFor({ ...demand, owners: demand.owners / cells }, coefficients, policy);
    if (plan.broken.length === 0 || cells > MOST_CELLS) return { ...plan, cells };
  }
}

function neededFor(
  work: Amounts,
  { gateways }: Deployment,
  { cpuMs }: Coefficients,
  policy: Policy,
): Deployment & { isEnough: boolean } {
  const { utilisation, socketsPerGateway, fewest } = policy;
  const cpu = cpuOf(work, cpuMs);
  const budget = utilisation * 1_000;
  // What each gateway does for itself grows with their number and leaves less for the rest.
  const own = cpuOf(ownOfGateways(work), cpuMs).gateway / gateways;
  const shared = cpu.gateway - own * gateways;
  const isEnough = own < budget;
  const forCpu = isEnough ? Math.ceil(shared / (budget - own)) : 0;
  const forSockets = Math.ceil((work.socket ?? 0) / socketsPerGateway);
  return {
    gateways: Math.max(fewest, forCpu, forSockets),
    tasks: Math.max(fewest, Math.ceil(cpu.tasks / budget)),
    auth: Math.max(fewest, Math.ceil(cpu.auth / budget)),
    isEnough,
  };
}

const ownOfGateways = ({ gateway, fetch, record }: Amounts): Amounts => ({ gateway, fetch, record });
const ofRelays = ({ round, change }: Amounts): Amounts => ({ round, change });

function describe(
  demand: Demand,
  work: Amounts,
  deployment: Deployment,
  coefficients: Coefficients,
  policy: Policy,
): Omit<Plan, 'isEnough'> {
  const { cpuMs, bytes, flushes, redis } = coefficients;
  const { gateways, tasks, auth } = deployment;
  const { owners, tasksPerOwner, meanShare, changeRetentionHours, kafkaRetentionHours, kafkaCopies } = demand;
  const { login = 0, list = 0, get = 0, statistics = 0, create = 0, update = 0, change = 0, socket = 0 } = work;
  const budget = policy.utilisation * 1_000;
  const cpu = cpuOf(work, cpuMs);
  const cpuOfAuth = cpuOf({ login, auth, gateway: work.gateway ?? 0 }, cpuMs).postgres;
  const relays = Math.min(tasks, MOST_RELAYS);
  const inBytesPerS = change * bytes.record;
  const rows = owners * tasksPerOwner;
  const plan = {
    ...deployment,
    cells: 1,
    sockets: socket,
    changesPerS: change,
    requestsPerS: list + get + statistics + create + update + login,
    streamShare: cpuOf({ fetch: work.fetch ?? 0, record: work.record ?? 0 }, cpuMs).gateway / gateways / budget,
    relays,
    relayShare: cpuOf(ofRelays(work), cpuMs).tasks / relays / budget,
    gatewayMiB: (bytes.gateway + (socket / gateways) * bytes.socket) / 2 ** 20,
    postgres: {
      tasks: { cores: (cpu.postgres - cpuOfAuth) / budget, connections: tasks * policy.poolSize + tasks },
      auth: { cores: cpuOfAuth / budget, connections: auth * policy.poolSize },
    },
    postgresBytes:
      rows * bytes.task + owners * bytes.feed + change * meanShare * changeRetentionHours * 3_600 * bytes.change,
    walBytesPerS: change * bytes.wal,
    flushesPerS: change * flushes,
    kafka: {
      cores: cpu.kafka / budget,
      inBytesPerS,
      outBytesPerS: inBytesPerS * gateways,
      diskBytes: inBytesPerS * meanShare * kafkaRetentionHours * 3_600 * kafkaCopies,
    },
    redisPerS: login * redis.login + gateways * redis.gatewaySecond,
    dumpHours: rows / BACKUP.dumpRowsPerS / 3_600,
    restoreHours: rows / BACKUP.restoreRowsPerS / 3_600,
  };
  return { ...plan, broken: brokenBy(plan, policy) };
}

function brokenBy(plan: Omit<Plan, 'broken' | 'isEnough'>, { limits }: Policy): string[] {
  const rules: [isBroken: boolean, why: string][] = [
    [plan.streamShare > 0.5, 'reading everybody’s changes takes more than half of each gateway'],
    [plan.gateways > limits.gateways, `more than ${limits.gateways} gateways`],
    [plan.relayShare > 1, `${MOST_RELAYS} relays are not enough`],
    [
      plan.postgres.tasks.cores > limits.postgresCores,
      `one PostgreSQL primary of more than ${limits.postgresCores} cores`,
    ],
    [plan.postgresBytes > limits.postgresBytes, `more than ${limits.postgresBytes / 2 ** 40} TiB in one PostgreSQL`],
    [plan.restoreHours > limits.restoreHours, `a restore of more than ${limits.restoreHours} hours`],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, why]) => why);
}
