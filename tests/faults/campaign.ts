import { createRandom } from '@taskmesh/testing';
import { printLine, type Stack } from '@taskmesh/local';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccount, type Account, type AccountOptions } from './account.ts';
import { inject, planFaults, type PlannedFault } from './inject.ts';

export type OwnerOptions = Omit<AccountOptions, 'urls' | 'name' | 'random'>;

export interface CampaignOptions {
  /** The URLs of the gateways. */
  urls: string[];
  seed: number;
  owners: OwnerOptions[];
  /** Injects faults while the accounts are at work. Returns the faults injected. */
  faults: (accounts: Account[], random: () => number) => Promise<DoneFault[]>;
  /** The average time between two cuts of a stream. @default 15_000 */
  cutEveryMs?: number;
}

export interface DoneFault {
  target: string;
  kind: string;
  /** The `performance.now()` at which the fault began. */
  at?: number;
}

/** The maximum pause between two faults. Sometimes, two are injected at once. */
const CALM_MS = 2_500;
const TOGETHER = 0.25;
const MAX_ABSENCE_MS = 4_000;

/**
 * Runs writers and streams of every protocol for many accounts, while faults are injected and connections are cut at random.
 * Then compares everything that was written with everything that was delivered.
 */
export async function runCampaign({ urls, seed, owners, faults, cutEveryMs = 15_000 }: CampaignOptions) {
  // A generator per purpose, so that the number of draws from one does not change the others.
  const [faultsRandom, cutsRandom, writesRandom] = [1, 2, 3].map((salt) => createRandom(seed * 31 + salt));
  if (!faultsRandom || !cutsRandom || !writesRandom) throw new Error('There are three.');
  const shared = { urls, random: writesRandom };
  const named = owners.map((owner, index) => ({ ...owner, ...shared, name: `owner-${seed}-${index}` }));
  let done: DoneFault[] = [];
  let cuts = 0;
  const result = await withAccounts(named, async (accounts) => {
    const ending = new AbortController();
    const cutting = cutAtRandom(accounts, { everyMs: cutEveryMs, random: cutsRandom, ending: ending.signal });
    done = await faults(accounts, faultsRandom);
    ending.abort();
    cuts = await cutting;
    printLine('comparing what was written with what was delivered');
  });
  const figures = { ...result.figures, cuts };
  const faultsDone = done.map(({ target, kind }) => `${kind} ${target}`);
  printLine(`seed ${seed}, ${owners.length} owners: ${JSON.stringify({ ...figures, faultsDone })}`);
  return { ...result, figures };
}

/** Runs accounts with writers and streams during `work`, and compares what was written with what was delivered. */
async function withAccounts(options: AccountOptions[], work: (accounts: Account[]) => Promise<unknown>) {
  const accounts: Account[] = [];
  for (const each of options) accounts.push(await createAccount(each));
  try {
    await work(accounts);
    await Promise.all(accounts.map((account) => account.stopWriting()));
    const verdicts = await Promise.all(accounts.map((account) => account.verdict()));
    return {
      accounts,
      findings: verdicts.flatMap(({ contradictions, surprises }) => [...contradictions, ...surprises]),
      figures: summary(accounts.map((account) => account.figures())),
    };
  } finally {
    await Promise.all(accounts.map((account) => account.close()));
  }
}

/** Cuts random streams until `ending` aborts. Returns the number of cuts. */
async function cutAtRandom(
  accounts: Account[],
  { everyMs, random, ending }: { everyMs: number; random: () => number; ending: AbortSignal },
): Promise<number> {
  const streams = accounts.flatMap((account) => account.streams);
  for (let cuts = 0; ; cuts++) {
    await sleep((everyMs / streams.length) * 2 * random(), undefined, { signal: ending }).catch(() => undefined);
    if (ending.aborted) return cuts;
    streams[Math.floor(random() * streams.length)]?.cut(MAX_ABSENCE_MS * random() ** 3);
  }
}

export interface RandomFaults {
  stack: Stack;
  /** The data directory of the stack. */
  dataDir: string;
  /** The names of the processes. */
  targets: string[];
  durationMs: number;
  /** The plan of an earlier call, to continue it. @default a new plan */
  plan?: Generator<PlannedFault, never>;
}

/** Kills, freezes and restarts processes of a stack on a random but reproducible schedule. */
export async function doRandomFaults(
  { stack, dataDir, targets, durationMs, ...given }: RandomFaults,
  random: () => number,
): Promise<DoneFault[]> {
  const deadline = performance.now() + durationMs;
  const done: DoneFault[] = [];
  const plan = given.plan ?? planFaults(targets, random);
  while (performance.now() < deadline) {
    await sleep(CALM_MS * random());
    const first = plan.next().value;
    const second = random() < TOGETHER ? plan.next().value : undefined;
    const due = second && second.target !== first.target ? [first, second] : [first];
    const left = Math.max(0, Math.round((deadline - performance.now()) / 1000));
    printLine(`${left} s to go, at ${Math.round(performance.now())}: ${due.map(described).join(' and ')}`);
    const at = performance.now();
    await Promise.all(due.map((fault) => inject({ stack, dataDir }, fault)));
    done.push(...due.map((fault) => ({ ...fault, at })));
  }
  return done;
}

const described = ({ target, kind, forMs }: PlannedFault) =>
  `${kind} ${target}${kind === 'freeze' ? ` for ${(forMs / 1000).toFixed(1)} s` : ''}`;

/** Runs accounts with writers and streams during `work`. Returns the broken promises, the surprises, and figures. */
export async function underLoad(
  { names, ...common }: Omit<AccountOptions, 'name'> & { names: string[] },
  work: (accounts: Account[]) => Promise<unknown>,
) {
  const options = names.map((name) => ({ ...common, name }));
  const loaded = await withAccounts(options, work);
  console.info(`${names.join(', ')}: ${JSON.stringify(loaded.figures)}`);
  return loaded;
}

/** Expects that nothing was lost, repeated or reordered, and that every protocol delivered at least the confirmed writes. */
export function expectKept({ findings, figures }: Pick<Awaited<ReturnType<typeof underLoad>>, 'findings' | 'figures'>) {
  expect(findings).toEqual([]);
  for (const { events } of Object.values(figures.streams))
    expect(events).toBeGreaterThanOrEqual(figures.writes.confirmed);
}

function summary(figures: ReturnType<Account['figures']>[]) {
  const sum = <Name extends string>(of: Record<Name, number>[], name: Name) =>
    of.reduce((total, each) => total + each[name], 0);
  const all = figures.flatMap(({ streams }) => streams);
  const ofStreams = ([protocol, streams]: [string, typeof all]) => {
    const longestMs = Math.round(Math.max(...streams.map((stream) => stream.longestMs)));
    return [protocol, { events: sum(streams, 'events'), resumes: sum(streams, 'resumes'), longestMs }] as const;
  };
  return {
    writes: {
      ...{ confirmed: sum(figures, 'confirmed'), denied: sum(figures, 'denied'), unknown: sum(figures, 'unknown') },
      ...{ refused: sum(figures, 'refused'), retried: sum(figures, 'retried') },
    },
    streams: Object.fromEntries([...Map.groupBy(all, ({ protocol }) => protocol)].map(ofStreams)),
  };
}
