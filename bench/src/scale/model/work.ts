/** What processors do, by the kinds of processes that do it. */
export const PARTS = ['gateway', 'tasks', 'auth', 'backup', 'postgres', 'kafka', 'redis'] as const;
export type Part = (typeof PARTS)[number];

/** The kinds of work, each with its unit: one of these costs so many CPU-ms in each part. */
export const WORK = {
  servers: 'a second of what is there once: Kafka, Redis, the backup service',
  tasks: 'a second of a tasks process',
  auth: 'a second of an auth process',
  gateway: 'a second of a gateway, with what it asks others for all the time',
  list: 'a list of 50 over REST',
  get: 'a task by its id over REST',
  statistics: 'the statistics over REST',
  login: 'a login',
  create: 'a task made over REST, without its way to the feed',
  update: 'a task changed over REST, without its way to the feed',
  round: 'a round of a relay: read, publish, mark',
  change: 'a change in such a round',
  fetch: 'a gateway takes what a round published',
  record: 'a change that a gateway reads, for it or not',
  delivered: 'a change of an owner who listens at a gateway, to the first socket there',
  further: 'the same change to each further socket there',
  open: 'a socket opened and subscribed',
  socket: 'a second of a subscribed socket',
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
