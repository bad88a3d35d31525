import { alignedTable } from '../../report/table.ts';
import { FEED_LOADS, LOADS, type LoadName, type Protocol, type Rate, type Source, type Speech } from '../cells.ts';
import type { FeedMeasured } from '../figures.ts';

const COLUMNS = [
  'target',
  'over',
  'since',
  'server',
  '× bare',
  'inner',
  'PostgreSQL',
  'Kafka',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'messages/s',
  'KiB',
];
/** So many columns at the left hold words. */
const WORDS = 3;

const SPEECHES: Record<Speech, string> = {
  bare: 'ws',
  'graphql-ws': 'graphql-ws',
  sse: 'SSE',
  multipart: 'multipart',
  channel: 'channel',
} satisfies Record<Protocol | 'bare', string>;

const SINCE: Record<Source, string> = { commit: 'commit', kafka: 'publish', http: 'post' };

const TITLES: Record<LoadName, string> = {
  personal: 'Personal: an owner for each socket',
  'fan-out': 'Fan-out: an owner for a hundred sockets',
};

/** A table for each load and rate that was measured, as Markdown. */
export function feedTables(measured: readonly FeedMeasured[]): string {
  const rates: Rate[] = ['usual', 'high'];
  return LOADS.flatMap((load) => rates.map((rate) => ({ load, rate })))
    .map(({ load, rate }) => ({ load, rate, rows: measured.filter((row) => row.load === load && row.rate === rate) }))
    .filter(({ rows }) => rows.length > 0)
    .map(
      ({ load, rate, rows }) =>
        `**${TITLES[load]}, ${FEED_LOADS[load].messagesPerS[rate].toLocaleString('en')} messages/s**\n\n` +
        alignedTable(
          COLUMNS,
          WORDS,
          rows.map((row) => rowOf(row, rows)),
        ),
    )
    .join('\n\n');
}

function rowOf(row: FeedMeasured, rows: readonly FeedMeasured[]): string[] {
  const { way, speech, source, cpu, p50Ms, p95Ms, p99Ms, messagesPerS, bytesPerSocket } = row;
  const bare = bareFor(row, rows);
  return [
    way,
    SPEECHES[speech],
    SINCE[source],
    cpuMs(cpu.sockets),
    bare && bare !== row ? (cpu.sockets / bare.cpu.sockets).toFixed(2) : '',
    way === 'separate' ? cpuMs(cpu.inner) : '',
    way === 'bare' ? '' : cpuMs(cpu.postgres),
    way === 'embedded' || source === 'http' ? '' : cpuMs(cpu.kafka),
    latency(p50Ms),
    latency(p95Ms),
    latency(p99Ms),
    Math.round(messagesPerS).toString(),
    (bytesPerSocket / 1024).toFixed(1),
  ];
}

/** What takes its changes from Kafka is compared with a bare server that does so, too. */
function bareFor({ way }: FeedMeasured, rows: readonly FeedMeasured[]): FeedMeasured | undefined {
  const bare = rows.filter((row) => row.way === 'bare');
  return bare.find(({ source }) => source === (way === 'separate' ? 'kafka' : 'http'));
}

function cpuMs(value: number): string {
  return value.toFixed(value >= 0.1 ? 3 : 4);
}

function latency(ms: number): string {
  return ms.toFixed(ms >= 100 ? 0 : ms >= 10 ? 1 : 2);
}
