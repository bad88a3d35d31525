import { join } from 'node:path';
import { bytesInUse, withMemoryHook } from '../machine/memory.ts';
import { startLoad, stopPart } from '../machine/processes.ts';
import { measureCost, pidOf, startBare, startTargets, TARGETS, type Start, type Target } from '../machine/targets.ts';
import type { Report, RunContext } from '../run/benchmark.ts';
import { summarise } from '../run/figures.ts';
import { amount, choice, count, defineOptions } from '../run/options.ts';
import { describeOrigin, describeRounds, table } from '../run/report.ts';
import { PROTOCOLS, type SocketKind } from './sockets.ts';
import type { SourceName } from './sources.ts';
import { prepareUsers } from './users.ts';

const LOADS = ['personal', 'fan-out'] as const;
const RATES = ['usual', 'high'] as const;

/** How many sockets listen to one owner, and how many messages per second all sockets together receive. */
const FEED_LOADS = {
  personal: { title: 'an owner for each socket', perOwner: 1, messagesPerS: { usual: 500, high: 5_000 } },
  'fan-out': { title: 'an owner for a hundred sockets', perOwner: 100, messagesPerS: { usual: 5_000, high: 50_000 } },
};

const ABOUT = `
Measures the cost and latency of delivering a change: Taskmesh embedded and as separate processes with Kafka, over each
protocol, compared with a bare ws server that does nothing else.
`;
const options = defineOptions('feed', ABOUT, {
  only: choice('protocols', PROTOCOLS),
  targets: choice('targets', TARGETS),
  loads: choice('loads', LOADS),
  rates: choice('rates', RATES, [RATES, ['usual']]),
  sockets: count('sockets; ulimit -n must allow as many open files', [2_000, 200], { max: 20_000 }),
  seconds: amount('length of one phase', [4, 1]),
  warmUp: amount('seconds before a phase', [2, 0.5]),
  rounds: count('number of rounds; the median counts', [3, 1]),
});
type Options = ReturnType<typeof options.read>;

/** Measures sockets by target, protocol and load, in rounds; the same sockets are used for all rates and sources. */
async function run(chosen: Options & RunContext) {
  const { dataDir, log, signal, seconds, warmUp } = chosen;
  await using closers = new AsyncDisposableStack();
  const hookDir = join(dataDir, 'hooks');
  const { env, createUsers } = await prepareUsers(dataDir, withMemoryHook(chosen.env, hookDir), chosen.sockets);
  // The bare server comes last: it reads the Kafka of the separate processes.
  const names = (['embedded', 'separate', 'bare'] as const).filter((name) => chosen.targets.includes(name));
  const { targets } = closers.adopt(await startTargets(names, { ...chosen, env }, { bare: startBareFeed }), stopPart);
  const load = closers.adopt(await startLoad(dataDir), stopPart);

  const openSockets = async (target: Target, kind: SocketKind, name: (typeof LOADS)[number]) => {
    const socketsPerOwner = Math.min(FEED_LOADS[name].perOwner, chosen.sockets);
    const users = await createUsers(Math.floor(chosen.sockets / socketsPerOwner));
    const before = await bytesInUse(pidOf(target), hookDir);
    const { url, sources } = target;
    await load.call('openFeed', { url, sources, kind, users, socketsPerOwner });
    const bytes = (await bytesInUse(pidOf(target), hookDir)) - before;
    return { socketsPerOwner, bytesPerSocket: bytes / (users.length * socketsPerOwner) };
  };
  const sockets = chosen.loads.flatMap((name) =>
    targets.flatMap((target) =>
      (target.name === 'bare' ? (['bare'] as const) : chosen.only).map((protocol) => ({ name, target, protocol })),
    ),
  );
  const measure = async ({ name, target, protocol }: (typeof sockets)[number]) => {
    signal.throwIfAborted();
    log(`${name}, ${target.name} over ${protocol} …`);
    const { socketsPerOwner, bytesPerSocket } = await openSockets(target, protocol, name);
    const rows = [];
    for (const rate of chosen.rates)
      for (const source of sourcesOf(target)) {
        const changesPerS = FEED_LOADS[name].messagesPerS[rate] / socketsPerOwner;
        const deliver = (during: number) => load.call('runFeed', { source, changesPerS, seconds: during });
        await deliver(warmUp);
        // CPU in milliseconds per delivered message.
        const measurement = await measureCost(target, 'messages', () => deliver(seconds));
        const figures = { ...measurement, messagesPerS: measurement.messages / measurement.seconds, bytesPerSocket };
        rows.push({ target: target.name, protocol, load: name, source, rate, figures });
      }
    await load.call('closeFeed');
    return rows;
  };
  const rounds = new Array<Awaited<ReturnType<typeof measure>>>();
  for (let round = 0; round < chosen.rounds; round++) {
    const rows = [];
    for (const opened of sockets) rows.push(...(await measure(opened)));
    rounds.push(rows);
  }
  const measured = (rounds[0] ?? []).map(({ figures: _, ...row }, index) => ({
    ...{ ...row, ...summarise(rounds.flatMap((rows) => rows[index]?.figures ?? [])) },
  }));
  return { postgres: targets[0]?.postgres, measured };
}

const startBareFeed: Start = async (starting, others) => {
  const separate = others.find(({ name }) => name === 'separate');
  const kafka = separate?.sources.kafka;
  const file = new URL('bare.main.ts', import.meta.url);
  const bare = await startBare({ ...starting, env: { ...starting.env, KAFKA_BROKERS: kafka } }, file);
  const parts = [...bare.parts, ...(separate?.parts.filter(({ role }) => role === 'kafka') ?? [])];
  return { ...bare, parts, sources: { http: bare.url, ...(kafka && { kafka }) } };
};

/** Only the bare server can get changes from elsewhere: gateways end feeds that are ahead of the store. */
function sourcesOf({ sources }: Target): SourceName[] {
  return sources.tasksDatabase ? ['commit'] : ['http', ...(sources.kafka ? (['kafka'] as const) : [])];
}

type FeedReport = Report<Options, Awaited<ReturnType<typeof run>>>;
type Row = FeedReport['measured'][number];

/** A table for each load and rate. */
function describe(report: FeedReport): Record<string, string> {
  const { sockets, rounds, seconds, warmUp } = report.parameters;
  const method = `${sockets} sockets · ${describeRounds(rounds, seconds)}, after ${warmUp} s to warm up · CPU in ms per delivered message`;
  const tables = LOADS.flatMap((load) =>
    RATES.map((rate) => {
      const rows = report.measured.filter((row) => row.load === load && row.rate === rate);
      const { title, messagesPerS } = FEED_LOADS[load];
      const heading = `**${load}: ${title}, ${messagesPerS[rate].toLocaleString('en')} messages/s**`;
      return rows.length === 0 ? '' : `${heading}\n\n${feedTable(rows)}`;
    }),
  );
  return { 'feed figures': [describeOrigin(report, method), ...tables].filter(Boolean).join('\n\n') };
}

const PROTOCOL_TITLES: Partial<Record<SocketKind, string>> = { bare: 'ws', sse: 'SSE' };
const SINCE: Record<SourceName, string> = { commit: 'commit', kafka: 'publish', http: 'post' };

function feedTable(rows: readonly Row[]): string {
  /** Separate gateways read changes from Kafka, and are compared with a bare server that also does. */
  const ratioToBare = (row: Row) => {
    const source = row.target === 'separate' ? 'kafka' : 'http';
    const bare = rows.find((other) => other.target === 'bare' && other.source === source);
    return bare && bare !== row ? (row.cpu.server / bare.cpu.server).toFixed(2) : '';
  };
  return table<Row>(
    rows,
    {
      target: (row) => row.target,
      over: (row) => PROTOCOL_TITLES[row.protocol] ?? row.protocol,
      since: (row) => SINCE[row.source],
    },
    {
      server: ({ cpu }) => cpu.server,
      '× bare': ratioToBare,
      internal: ({ target, cpu }) => (target === 'separate' ? cpu.internal : ''),
      PostgreSQL: ({ target, cpu }) => (target === 'bare' ? '' : cpu.postgres),
      Kafka: ({ target, source, cpu }) => (target === 'embedded' || source === 'http' ? '' : cpu.kafka),
      'p50 ms': ({ p50Ms }) => p50Ms,
      'p95 ms': ({ p95Ms }) => p95Ms,
      'p99 ms': ({ p99Ms }) => p99Ms,
      'messages/s': ({ messagesPerS }) => Math.round(messagesPerS).toString(),
      KiB: ({ bytesPerSocket }) => (bytesPerSocket / 1024).toFixed(1),
    },
  );
}

export const feed = { options, run, describe };
