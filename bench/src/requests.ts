import { join } from 'node:path';
import { LISTS_PER_SECOND, PARALLEL_LOGINS, type BesideLoginsFigures } from './load/beside-logins.ts';
import { OPERATIONS, PROTOCOLS, type Operation } from './load/calls.ts';
import { startLoad, stopPart, type Load } from './machine/processes.ts';
import { measureCost, startTargets, TARGETS, type Target, type TargetName } from './machine/targets.ts';
import type { Report, RunContext } from './run/benchmark.ts';
import { measureInRounds, sumOf, summarise, type RoundOptions } from './run/figures.ts';
import { amount, choice, count, defineOptions } from './run/options.ts';
import { describeOrigin, describeRounds, LATENCIES, table } from './run/report.ts';

const BESIDE_LOGINS = 'beside-logins';
/** Rounds beside logins are this many times as long, because a p99 needs many responses. */
const ROUND_FACTOR = 4;

const options = defineOptions(
  '[requests]',
  `
npm run bench -- feed [<options>]     the change feed (each of these has its own --help)
npm run bench -- backup [<options>]   backups and restores
npm run bench -- scale [<options>]    how costs grow with the load and the number of gateways
npm run bench -- growth [<options>]   whether costs stay the same as data grows
npm run bench -- gateway [<options>]  federated queries, compared with other gateways
Measures the cost of requests: Taskmesh embedded and as separate processes, compared with a bare Fastify + pg server, in one run.
`,
  {
    only: choice('operations, and how much 50 parallel logins slow down lists', [...OPERATIONS, BESIDE_LOGINS]),
    targets: choice('targets', TARGETS),
    seconds: amount('length of one round', [3, 0.3]),
    warmUp: amount('seconds of each cell before its first round', [10, 0.3]),
    rounds: count('number of rounds; the median counts', [3]),
    connections: count('concurrent requests', [32], { max: 1_000 }),
  },
);
type Options = ReturnType<typeof options.read>;

/** Measures requests at all targets side by side, then lists beside logins at each target by itself. */
async function run(chosen: Options & RunContext) {
  const { only, targets: names, log } = chosen;
  const operations = OPERATIONS.filter((name) => only.includes(name));
  const measured: Measured[] = [];
  const besideLogins: BesideLogins[] = [];
  let postgres: string | undefined;
  let started = 0;
  const atTargets = async (selected: readonly TargetName[], work: (targets: Target[], load: Load) => Promise<void>) => {
    await using closers = new AsyncDisposableStack();
    const dataDir = join(chosen.dataDir, `servers-${++started}`); // databases are new each time
    const { targets } = closers.adopt(await startTargets(selected, { ...chosen, dataDir }), stopPart);
    const load = closers.adopt(await startLoad(dataDir), stopPart);
    for (const { name, url } of targets) {
      log(`Accounts and tasks for ${name} …`);
      await load.call('populate', url, chosen.connections);
    }
    await work(targets, load);
    postgres = targets[0]?.postgres;
  };
  if (operations.length > 0)
    await atTargets(names, async (targets, load) => {
      for (const operation of operations) {
        log(`${operation} …`);
        measured.push(...(await measureOperation(operation, targets, load, chosen)));
      }
    });
  for (const name of only.includes(BESIDE_LOGINS) ? names : [])
    await atTargets([name], async (targets, load) => {
      log(`${name}: lists beside logins …`);
      // The target is compared with itself.
      const roundOptions = { ...chosen, seconds: ROUND_FACTOR * chosen.seconds, warmUp: chosen.warmUp / 2 };
      for (const [{ name: target }, rounds] of await measureInRounds(targets, roundOptions, ({ url }, seconds) =>
        load.call('listBesideLogins', url, seconds),
      ))
        besideLogins.push({ target, ...summarise(rounds), requests: sumOf(rounds.map((round) => round.requests)) });
    });
  return { postgres, measured, besideLogins };
}

type Measured = Awaited<ReturnType<typeof measureOperation>>[number];
type BesideLogins = BesideLoginsFigures & { target: TargetName; rounds: BesideLoginsFigures[] };

/** Measures an operation at each populated target over each protocol, in alternating rounds. */
async function measureOperation(
  operation: Operation,
  targets: readonly Target[],
  load: Load,
  roundOptions: RoundOptions,
) {
  const cells = targets.flatMap((target) =>
    (target.name === 'bare' ? (['rest'] as const) : PROTOCOLS).map((protocol) => ({ target, protocol })),
  );
  const results = await measureInRounds(cells, roundOptions, async ({ target, protocol }, seconds) => {
    await load.call('open', target.url, operation, protocol);
    const found = await measureCost(target, 'requests', () => load.call('run', seconds));
    await load.call('close');
    const { server, internal, postgres } = found.cpu;
    return { ...found, perSecond: found.requests / found.seconds, cpuSum: server + internal + postgres };
  });
  return results.map(([{ target, protocol }, rounds]) => {
    const all = sumOf(rounds.map((round) => round.requests));
    return { operation, target: target.name, protocol, ...summarise(rounds), requests: all };
  });
}

function describe(report: Report<Options, Awaited<ReturnType<typeof run>>>): Record<string, string> {
  const { measured, besideLogins, parameters } = report;
  const { connections, rounds, seconds, warmUp } = parameters;
  const method = `${connections} connections · ${describeRounds(rounds, seconds)}, after ${warmUp} s to warm up · CPU in ms per request`;
  const methodBeside = `${LISTS_PER_SECOND} lists of 50 a second, alone and beside ${PARALLEL_LOGINS} parallel logins · ${describeRounds(rounds, ROUND_FACTOR * seconds)} of each, in slices by turns`;
  return {
    ...(measured.length > 0 && { figures: `${describeOrigin(report, method)}\n\n${requestTable(measured)}` }),
    ...(besideLogins.length > 0 && {
      'beside logins': `${describeOrigin(report, methodBeside)}\n\n${besideLoginsTable(besideLogins)}`,
    }),
  };
}

function requestTable(measured: readonly Measured[]): string {
  const ratioToBare = (row: Measured) => {
    const bare = measured.find(({ target, operation }) => target === 'bare' && operation === row.operation);
    return bare && bare !== row ? (row.cpuSum / bare.cpuSum).toFixed(2) : '';
  };
  const ofSeparate = (role: 'redis' | 'kafka') => (row: Measured) => (row.target === 'separate' ? row.cpu[role] : '');
  const protocols = { rest: 'REST', graphql: 'GraphQL' };
  return table<Measured>(
    measured,
    { operation: (row) => row.operation, target: (row) => row.target, over: (row) => protocols[row.protocol] },
    {
      server: ({ cpu }) => cpu.server + cpu.internal,
      PostgreSQL: ({ cpu }) => cpu.postgres,
      sum: ({ cpuSum }) => cpuSum,
      '× bare': ratioToBare,
      Redis: ofSeparate('redis'),
      Kafka: ofSeparate('kafka'),
      ...LATENCIES,
    },
  );
}

const besideLoginsTable = (rows: readonly BesideLogins[]) =>
  table<BesideLogins>(
    rows,
    { 'lists at': ({ target }) => target },
    {
      'alone p50 ms': ({ alone }) => alone.p50Ms,
      'alone p99 ms': ({ alone }) => alone.p99Ms,
      'beside logins p50 ms': ({ beside }) => beside.p50Ms,
      'beside logins p99 ms': ({ beside }) => beside.p99Ms,
      'p99 ×': ({ ratio }) => ratio.toFixed(2),
      'logins/s': ({ loginsPerSecond }) => Math.round(loginsPerSecond).toString(),
    },
  );

export const requests = { options, run, describe };
