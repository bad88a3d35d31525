/** What processors do, by the kinds of processes that do it. */
export const PARTS = ['gateway', 'tasks', 'auth', 'backup', 'postgres', 'kafka', 'redis'] as const;
export type Part = (typeof PARTS)[number];

/** The kinds of work: the unit, of which one costs so many CPU-ms in each part, and in which stretch of a run that was measured. */
export const WORK = {
  servers: ['a second of what is there once: Kafka, Redis, the backup service', 'nothing, the gateway held'],
  tasks: ['a second of a tasks process', 'nothing, the gateway held'],
  auth: ['a second of an auth process', 'nothing, the gateway held'],
  gateway: ['a second of a gateway, with what it asks others for all the time', 'nothing'],
  list: ['a list of 50 over REST', 'list'],
  get: ['a task by its id over REST', 'get'],
  statistics: ['the statistics over REST', 'statistics'],
  login: ['a login', 'login'],
  create: ['a task made over REST, without its way to the feed', 'create'],
  update: ['a task changed over REST, without its way to the feed', 'update'],
  round: ['a round of a relay: read, publish, mark', 'single commits'],
  change: ['a change in such a round', 'a backlog, its vacuum'],
  fetch: ['a gateway takes what a round published', 'single commits; Kafka: beside more readers'],
  record: ['a change that a gateway reads, for it or not', 'a backlog; Kafka: beside more readers'],
  delivered: ['a change of an owner who listens at a gateway, to the first socket there', 'delivered'],
  further: ['the same change to each further socket there', 'further'],
  open: ['a socket opened and subscribed', 'sockets opened'],
  socket: ['a second of a subscribed socket', 'sockets held'],
} as const;
export type Work = keyof typeof WORK;
export const KINDS = Object.keys(WORK) as Work[];

export type Amounts = Partial<Record<Work, number>>;
export type Cpu = Record<Part, number>;
/** CPU-ms of one unit of each work; what is not there costs nothing. */
export type Costs = Partial<Record<Work, Partial<Cpu>>>;

/** CPU-ms in each part for this much work. */
export function cpuOf(amounts: Amounts, costs: Costs): Cpu {
  const cpu = noCpu();
  for (const kind of KINDS) for (const part of PARTS) cpu[part] += (amounts[kind] ?? 0) * (costs[kind]?.[part] ?? 0);
  return cpu;
}

export function noCpu(): Cpu {
  return { gateway: 0, tasks: 0, auth: 0, backup: 0, postgres: 0, kafka: 0, redis: 0 };
}

/** A stretch of work that was measured, and what it is to tell: what one unit of a kind costs in some parts. */
export interface Cell {
  kind: Work;
  parts: readonly Part[];
  /** All that was done, of known kinds and of this one. */
  amounts: Amounts;
}

/** Whatever the known kinds do not explain is the new kind's. Less than nothing is nothing. */
export function attribute(costs: Costs, { kind, parts, amounts }: Cell, measured: Cpu): Costs {
  const known = cpuOf({ ...amounts, [kind]: 0 }, costs);
  const count = amounts[kind] ?? 0;
  const found = parts.map((part) => [part, Math.max(0, measured[part] - known[part]) / count] as const);
  return { ...costs, [kind]: { ...costs[kind], ...Object.fromEntries(found) } };
}

/**
 * How many rounds a relay makes in a second when changes come at random. A round takes `roundMs`; what comes meanwhile
 * shares the next one, which begins at once, and otherwise it waits for the first change.
 */
export function roundsPerS(changesPerS: number, roundMs: number): number {
  if (changesPerS === 0) return 0;
  const roundS = roundMs / 1_000;
  return 1 / (roundS + nothingCame(changesPerS, roundS) / changesPerS);
}

/** How long a round takes when a relay was seen to make so many transactions: after a round it looks once in vain when nothing came. */
export function roundMsFrom(changesPerS: number, transactionsPerS: number): number {
  let [low, high] = [0, 1_000];
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (transactionsOf(changesPerS, middle) > transactionsPerS) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

export function transactionsOf(changesPerS: number, roundMs: number): number {
  return roundsPerS(changesPerS, roundMs) * (1 + nothingCame(changesPerS, roundMs / 1_000));
}

const nothingCame = (changesPerS: number, seconds: number) => Math.exp(-changesPerS * seconds);
