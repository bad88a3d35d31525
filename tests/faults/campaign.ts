import type { Stack } from '@taskmesh/local';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccount, type Account, type AccountFigures, type AccountOptions, type Verdict } from './account.ts';
import { inject, planFaults, type PlannedFault } from './inject.ts';
import { createRandom } from './random.ts';

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
  /** Receives lines of progress for people. */
  log: (line: string) => void;
}

export interface DoneFault {
  target: string;
  kind: string;
  /** The `performance.now()` at which the fault began. */
  at?: number;
}

export interface CampaignResult extends Verdict {
  figures: CampaignFigures;
}

export interface CampaignFigures {
  seed: number;
  owners: number;
  writes: Omit<AccountFigures, 'streams'>;
  streams: Record<string, { events: number; resumes: number; p50Ms: number; p99Ms: number; longestMs: number }>;
  cuts: number;
  /** The number of faults by process and kind. */
  faults: Record<string, Record<string, number>>;
}

/** The maximum pause between two faults. Sometimes, two are injected at once. */
const CALM_MS = 2_500;
const TOGETHER = 0.25;
const MAX_ABSENCE_MS = 4_000;

/**
 * Runs writers and streams of every protocol for many accounts, while faults are injected and connections are cut at random.
 * Then compares everything that was written with everything that was delivered.
 */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { urls, seed, owners, faults, cutEveryMs = 15_000, log } = options;
  // A generator per purpose, so that the number of draws from one does not change the others.
  const [faultsRandom, cutsRandom, writesRandom] = [1, 2, 3].map((salt) => createRandom(seed * 31 + salt));
  if (!faultsRandom || !cutsRandom || !writesRandom) throw new Error('There are three.');
  const accounts: Account[] = [];
  for (const [index, owner] of owners.entries())
    accounts.push(await createAccount({ ...owner, urls, name: `owner-${seed}-${index}`, random: writesRandom }));
  try {
    const ending = new AbortController();
    const cutting = cutAtRandom(accounts, { everyMs: cutEveryMs, random: cutsRandom, ending: ending.signal });
    const done = await faults(accounts, faultsRandom);
    ending.abort();
    const cuts = await cutting;
    await Promise.all(accounts.map((account) => account.stopWriting()));
    log('comparing what was written with what was delivered');
    const verdicts = await Promise.all(accounts.map((account) => account.verdict()));
    return {
      contradictions: verdicts.flatMap((verdict) => verdict.contradictions),
      surprises: verdicts.flatMap(({ surprises }) => surprises),
      figures: {
        seed,
        owners: owners.length,
        ...summary(accounts.map((account) => account.figures())),
        cuts,
        faults: counted(done),
      },
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
  log: (line: string) => void;
}

/** Kills, freezes and restarts processes of a stack on a random but reproducible schedule. */
export async function doRandomFaults(
  { stack, dataDir, targets, durationMs, log, ...given }: RandomFaults,
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
    log(`${left} s to go, at ${Math.round(performance.now())}: ${due.map(described).join(' and ')}`);
    const at = performance.now();
    await Promise.all(due.map((fault) => inject({ stack, dataDir }, fault)));
    done.push(...due.map((fault) => ({ ...fault, at })));
  }
  return done;
}

const described = ({ target, kind, forMs }: PlannedFault) =>
  `${kind} ${target}${kind === 'freeze' ? ` for ${(forMs / 1000).toFixed(1)} s` : ''}`;

function counted(faults: DoneFault[]): CampaignFigures['faults'] {
  const counts: CampaignFigures['faults'] = {};
  for (const { target, kind } of faults) {
    const ofTarget = (counts[target] ??= {});
    ofTarget[kind] = (ofTarget[kind] ?? 0) + 1;
  }
  return counts;
}

/**
 * Runs accounts with writers and streams during `work`. Returns the promises that were not kept, the surprises, and figures
 * about the load.
 */
export async function underLoad(
  options: Omit<AccountOptions, 'name'> & { names: string[] },
  work: (accounts: Account[]) => Promise<unknown>,
) {
  const { names, ...common } = options;
  const accounts: Account[] = [];
  for (const name of names) accounts.push(await createAccount({ ...common, name }));
  try {
    await work(accounts);
    await Promise.all(accounts.map((account) => account.stopWriting()));
    const verdicts = await Promise.all(accounts.map((account) => account.verdict()));
    const figures = summary(accounts.map((account) => account.figures()));
    const findings = verdicts.flatMap(({ contradictions, surprises }) => [...contradictions, ...surprises]);
    console.info(`${names.join(', ')}: ${JSON.stringify(figures)}`);
    return { findings, figures, accounts };
  } finally {
    await Promise.all(accounts.map((account) => account.close()));
  }
}

function summary(figures: AccountFigures[]): Pick<CampaignFigures, 'writes' | 'streams'> {
  const sum = (name: 'confirmed' | 'denied' | 'unknown' | 'refused' | 'retried') =>
    figures.reduce((total, each) => total + each[name], 0);
  const byProtocol = Map.groupBy(
    figures.flatMap(({ streams }) => streams),
    ({ protocol }) => protocol,
  );
  return {
    writes: {
      confirmed: sum('confirmed'),
      denied: sum('denied'),
      unknown: sum('unknown'),
      refused: sum('refused'),
      retried: sum('retried'),
      longestGapMs: Math.max(...figures.map(({ longestGapMs }) => longestGapMs)),
    },
    streams: Object.fromEntries(
      [...byProtocol].map(([protocol, streams]) => {
        const latencies = streams.flatMap(({ latenciesMs }) => latenciesMs).toSorted((a, b) => a - b);
        const at = (share: number) => Math.round(latencies[Math.floor(share * (latencies.length - 1))] ?? 0);
        return [
          protocol,
          {
            events: streams.reduce((total, { events }) => total + events, 0),
            resumes: streams.reduce((total, { resumes }) => total + resumes, 0),
            p50Ms: at(0.5),
            p99Ms: at(0.99),
            longestMs: at(1),
          },
        ];
      }),
    ),
  };
}

/** Formats a result for a terminal. */
export function report({ figures, contradictions, surprises }: CampaignResult): string {
  const { seed, owners, writes, streams, cuts, faults } = figures;
  const faultCount = (name: string) => contradictions.filter(({ fault }) => fault === name).length;
  const shown = [...contradictions.map(({ fault, what }) => `${fault}: ${what}`), ...surprises];
  return [
    `seed ${seed}, ${owners} owners: ` +
      Object.entries(writes)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    ...Object.entries(streams).map(
      ([protocol, { events, resumes, p50Ms, p99Ms, longestMs }]) =>
        `  ${protocol.padEnd(14)} ${events} events, ${resumes} resumes; behind the answer: p50 ${p50Ms}, p99 ${p99Ms}, longest ${longestMs} ms`,
    ),
    `  connections cut: ${cuts}; faults: ${Object.entries(faults)
      .map(
        ([target, kinds]) =>
          `${target} ${Object.entries(kinds)
            .map(([kind, count]) => `${kind} ${count}`)
            .join(' ')}`,
      )
      .join(', ')}`,
    `  ${['lost', 'duplicated', 'reordered', 'foreign'].map((name) => `${faultCount(name)} ${name}`).join(', ')}; ` +
      `final lists that differ: ${faultCount('different list')}; surprises: ${surprises.length}`,
    ...shown.slice(0, 40).map((line) => `  ! ${line.slice(0, 400)}`),
  ].join('\n');
}
