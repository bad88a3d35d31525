import { isDeepStrictEqual } from 'node:util';
import { combine } from '../run/figures.ts';

/** The kinds of processes whose CPU time is modelled. */
export const PARTS = ['gateway', 'tasks', 'auth', 'backup', 'postgres', 'kafka', 'redis'] as const;
export type Part = (typeof PARTS)[number];

/** The kinds of work: the unit, and the stretch of a run in which its cost was measured. */
export const WORK = {
  servers: ['a second of the shared servers: Kafka, Redis, the backup service', 'idle, gateway paused'],
  tasks: ['a second of a tasks process', 'idle, gateway paused'],
  auth: ['a second of an auth process', 'idle, gateway paused'],
  gateway: ['a second of a gateway, with its regular requests to others', 'idle'],
  list: ['a list of 50 over REST', 'list'],
  get: ['a task by its id over REST', 'get'],
  statistics: ['the statistics over REST', 'statistics'],
  login: ['a login', 'login'],
  create: ['a task created over REST, without publishing the change', 'create'],
  update: ['a task updated over REST, without publishing the change', 'update'],
  change: ['a change that the relay reads, publishes and marks', 'commits, their vacuum'],
  record: ['a change that a gateway reads, for its own sockets or not', 'commits; Kafka: beside more readers'],
  delivered: ['a change of an owner who listens at a gateway, to the first socket there', 'delivered'],
  further: ['the same change to each further socket there', 'further'],
  open: ['a socket opened and subscribed', 'sockets opened'],
  socket: ['a second of a subscribed socket', 'sockets held'],
} as const;
export type Work = keyof typeof WORK;

export type Amounts = Partial<Record<Work, number>>;
export type Cpu = Record<Part, number>;
/** CPU-ms of one unit of each kind of work; absent kinds cost nothing. */
export type Costs = Partial<Record<Work, Partial<Cpu>>>;

export const NO_CPU: Cpu = { gateway: 0, tasks: 0, auth: 0, backup: 0, postgres: 0, kafka: 0, redis: 0 };

/** Returns the CPU-ms in each part for this much work. */
export function cpuOf(amounts: Amounts, costs: Costs): Cpu {
  const cpu = { ...NO_CPU };
  for (const kind of Object.keys(WORK) as Work[])
    for (const part of PARTS) cpu[part] += (amounts[kind] ?? 0) * (costs[kind]?.[part] ?? 0);
  return cpu;
}

/** Attributes the part of a measurement that known kinds do not explain to the new kind, in these parts; at least zero. */
export function attribute(costs: Costs, kind: Work, parts: readonly Part[], amounts: Amounts, measured: Cpu): Costs {
  const known = cpuOf({ ...amounts, [kind]: 0 }, costs);
  const count = amounts[kind] ?? 0;
  const found = parts.map((part) => [part, Math.max(0, measured[part] - known[part]) / count] as const);
  return { ...costs, [kind]: { ...costs[kind], ...Object.fromEntries(found) } };
}

/** Measurements of memory and storage: the subject, the unit, and the stretch. */
export const SIZES = {
  gatewayMiB: ['a gateway without sockets', 'MiB', 'sockets'],
  socketKiB: ['a subscribed socket', 'KiB', 'sockets'],
  taskBytes: ['a task', 'bytes in PostgreSQL', 'commits'],
  changeBytes: ['a change', 'bytes in PostgreSQL', 'create, update'],
  feedBytes: ["an owner's feed", 'bytes in PostgreSQL', 'commits'],
  walBytes: ['a write, published', 'bytes of WAL', 'create, update'],
  recordBytes: ['a change', 'bytes in Kafka', 'create, update'],
} as const;

/** The results of `npm run bench -- scale`. */
export type Coefficients = Record<keyof typeof SIZES, number> & { cpuMs: Costs };

/** From the README's table of backups of 2026-11-21. */
const RESTORED_ROWS_PER_S = 49_753;

/** The owners in the capacity tables. A guess for a busy product, not a measurement: use your own figures. */
export const PROFILE = {
  /** The share of owners with a live connection; the others are inactive. */
  onlineShare: 0.1,
  socketsPerOnline: 1.3,
  /** Requests per hour of one owner who is online. */
  perHour: { list: 12, get: 6, statistics: 4, create: 4, update: 8, login: 0.2, open: 2 },
  tasksPerOwner: 200,
  /** The mean load of a week, as a share of the busy hour. */
  meanShare: 0.4,
  changeRetentionHours: 168,
  kafkaRetentionHours: 72,
  kafkaCopies: 3,
};

/** How much processes may be loaded, and how large one installation may get. Choices, not measurements. */
const POLICY = {
  /** The share of a core in the busy hour. A Node process uses one core. */
  utilisation: 0.6,
  minProcesses: 2,
  /** As measured at one gateway, and as used by the chart for scaling. */
  socketsPerGateway: 2_000,
  poolSize: 10,
  limits: { gateways: 200, postgresCores: 32, postgresTiB: 4, restoreHours: 12 },
};

/** The owners' load in the busy hour, and the data stored for them. */
export type Demand = typeof PROFILE & { owners: number };

/** The number of processes that share the work. */
interface Deployment {
  gateways: number;
  tasks: number;
  auth: number;
}

/** Returns the work of one second. */
export function workOf(demand: Demand, { gateways, tasks, auth }: Deployment) {
  const { owners, onlineShare, socketsPerOnline, perHour } = demand;
  const online = owners * onlineShare;
  const requests = combine([perHour], ([times = 0]) => (online * times) / 3_600);
  const change = requests.create + requests.update;
  // An owner's sockets are spread like all others, so some of them are at the same gateway.
  const others = socketsPerOnline - 1;
  return {
    ...{ servers: 1, gateway: gateways, tasks, auth, ...requests, change, record: change * gateways },
    delivered: change * (1 + others * (1 - 1 / gateways)),
    further: (change * others) / gateways,
    socket: online * socketsPerOnline,
  };
}

/** The CPU-ms per second that a process may use. */
const BUDGET = POLICY.utilisation * 1_000;
const MAX_CELLS = 100_000;

export type Plan = ReturnType<typeof planFor>;

/** Plans one installation for these owners. */
export function planFor(demand: Demand, coefficients: Coefficients) {
  const { minProcesses, socketsPerGateway } = POLICY;
  let deployment: Deployment = { gateways: minProcesses, tasks: minProcesses, auth: minProcesses };
  // More processes cause more work, so the deployment grows until it is sufficient.
  for (;;) {
    const work = workOf(demand, deployment);
    const cpu = cpuOf(work, coefficients.cpuMs);
    const { gateway, record } = work;
    // The fixed work of each gateway reads all changes, and leaves less capacity for the rest.
    const own = cpuOf({ gateway, record }, coefficients.cpuMs).gateway / deployment.gateways;
    const isFeasible = own < BUDGET;
    const forCpu = isFeasible ? Math.ceil((cpu.gateway - own * deployment.gateways) / (BUDGET - own)) : 0;
    const needed = {
      gateways: Math.max(forCpu, Math.ceil(work.socket / socketsPerGateway)),
      tasks: Math.ceil(cpu.tasks / BUDGET),
      auth: Math.ceil(cpu.auth / BUDGET),
    };
    const larger = combine([deployment, needed], (counts) => Math.max(...counts));
    if (isDeepStrictEqual(larger, deployment)) return { ...describe(demand, deployment, coefficients), isFeasible };
    deployment = larger;
  }
}

/** Plans as few independent installations as are sufficient, each for its share of the owners. */
export function planInCells(demand: Demand, coefficients: Coefficients): Plan {
  for (let cells = 1; ; cells = cells < 20 ? cells + 1 : Math.ceil(cells * 1.05)) {
    const plan = planFor({ ...demand, owners: demand.owners / cells }, coefficients);
    if (plan.broken.length === 0 || cells > MAX_CELLS) return { ...plan, cells };
  }
}

function describe(demand: Demand, deployment: Deployment, coefficients: Coefficients) {
  const { cpuMs, gatewayMiB, socketKiB, taskBytes, feedBytes, changeBytes, recordBytes } = coefficients;
  const { gateways, tasks, auth } = deployment;
  const { owners, tasksPerOwner, meanShare, changeRetentionHours, kafkaRetentionHours, kafkaCopies } = demand;
  const work = workOf(demand, deployment);
  const { login, record, change, socket } = work;
  const cpu = cpuOf(work, cpuMs);
  const cpuOfAuth = cpuOf({ login, auth, gateway: work.gateway }, cpuMs).postgres;
  const kafkaInPerS = change * recordBytes;
  const rows = owners * tasksPerOwner;
  const keptChanges = change * meanShare * changeRetentionHours * 3_600;
  const plan = {
    ...{ ...deployment, sockets: socket, changesPerS: change },
    /** The number of installations among which the owners are divided; all other figures are for one of them. */
    cells: 1,
    requestsPerS: work.list + work.get + work.statistics + change + login,
    /** The share of a gateway's CPU budget for reading the changes of all owners. */
    streamShare: cpuOf({ record }, cpuMs).gateway / gateways / BUDGET,
    /** The share of a tasks process's CPU budget for the relay: usually one process publishes all changes. */
    relayShare: cpuOf({ change }, cpuMs).tasks / BUDGET,
    gatewayMiB: gatewayMiB + ((socket / gateways) * socketKiB) / 1024,
    tasksCores: (cpu.postgres - cpuOfAuth) / BUDGET,
    tasksConnections: tasks * (POLICY.poolSize + 1),
    authCores: cpuOfAuth / BUDGET,
    authConnections: auth * POLICY.poolSize,
    postgresBytes: rows * taskBytes + owners * feedBytes + keptChanges * changeBytes,
    walBytesPerS: change * coefficients.walBytes,
    kafkaCores: cpu.kafka / BUDGET,
    ...{ kafkaInPerS, kafkaOutPerS: kafkaInPerS * gateways },
    kafkaDiskBytes: kafkaInPerS * meanShare * kafkaRetentionHours * 3_600 * kafkaCopies,
    restoreHours: rows / RESTORED_ROWS_PER_S / 3_600,
  };
  const { limits } = POLICY;
  const rules: [isBroken: boolean, why: string][] = [
    [plan.streamShare > 0.5, 'reading all owners’ changes takes more than half of each gateway'],
    [gateways > limits.gateways, `more than ${limits.gateways} gateways`],
    [plan.relayShare > 1, 'one relay is not enough'],
    [plan.tasksCores > limits.postgresCores, `one PostgreSQL primary of more than ${limits.postgresCores} cores`],
    [plan.postgresBytes > limits.postgresTiB * 2 ** 40, `more than ${limits.postgresTiB} TiB in one PostgreSQL`],
    [plan.restoreHours > limits.restoreHours, `a restore of more than ${limits.restoreHours} hours`],
  ];
  /** `broken`: why one installation cannot be this large; empty if it can. */
  return { ...plan, broken: rules.filter(([isBroken]) => isBroken).map(([, why]) => why) };
}
