import { describeOrigin, type Origin } from '../report/machine.ts';
import { table, type Column } from '../report/table.ts';
import { FEED_LOADS, LOADS, RATES, type LoadName, type Source, type Speech } from './cells.ts';
import type { FeedMeasured } from './measure-feed.ts';
import type { FeedOptions } from './options.ts';

/** Everything a run found. */
export interface FeedReport extends Origin {
  parameters: Pick<FeedOptions, 'sockets' | 'rounds' | 'seconds' | 'warmUpSeconds'>;
  measured: FeedMeasured[];
}

const SPEECHES: Partial<Record<Speech, string>> = { bare: 'ws', sse: 'SSE' };

const SINCE: Record<Source, string> = { commit: 'commit', kafka: 'publish', http: 'post' };

const TITLES: Record<LoadName, string> = {
  personal: 'Personal: an owner for each socket',
  'fan-out': 'Fan-out: an owner for a hundred sockets',
};

/** Where, when and how, and a table for each load and rate that was measured. */
export function describeFeed(report: FeedReport): Record<string, string> {
  const { sockets, rounds, seconds, warmUpSeconds } = report.parameters;
  const how = `${sockets} sockets · median of ${rounds === 1 ? 'one round' : `${rounds} rounds`} of ${seconds} s, after ${warmUpSeconds} s to warm up · CPU in ms per delivered message`;
  const tables = LOADS.flatMap((load) =>
    RATES.map((rate) => {
      const rows = report.measured.filter((row) => row.load === load && row.rate === rate);
      const title = `**${TITLES[load]}, ${FEED_LOADS[load].messagesPerS[rate].toLocaleString('en')} messages/s**`;
      return rows.length === 0 ? [] : [`${title}\n\n${table(rows, { words: WORDS, figures: figuresBeside(rows) })}`];
    }),
  );
  return { 'feed figures': [describeOrigin(report, how), ...tables.flat()].join('\n\n') };
}

const WORDS: Column<FeedMeasured>[] = [
  ['target', ({ way }) => way],
  ['over', ({ speech }) => SPEECHES[speech] ?? speech],
  ['since', ({ source }) => SINCE[source]],
];

function figuresBeside(rows: readonly FeedMeasured[]): Column<FeedMeasured>[] {
  /** What takes its changes from Kafka is compared with a bare server that does so, too. */
  const timesBare = (row: FeedMeasured) => {
    const source = row.way === 'separate' ? 'kafka' : 'http';
    const bare = rows.find((other) => other.way === 'bare' && other.source === source);
    return bare && bare !== row ? (row.cpuByRole.server / bare.cpuByRole.server).toFixed(2) : '';
  };
  return [
    ['server', ({ cpuByRole }) => cpuByRole.server],
    ['× bare', timesBare],
    ['inner', ({ way, cpuByRole }) => (way === 'separate' ? cpuByRole.inner : '')],
    ['PostgreSQL', ({ way, cpuByRole }) => (way === 'bare' ? '' : cpuByRole.postgres)],
    ['Kafka', ({ way, source, cpuByRole }) => (way === 'embedded' || source === 'http' ? '' : cpuByRole.kafka)],
    ['p50 ms', ({ p50Ms }) => p50Ms],
    ['p95 ms', ({ p95Ms }) => p95Ms],
    ['p99 ms', ({ p99Ms }) => p99Ms],
    ['messages/s', ({ messagesPerS }) => Math.round(messagesPerS).toString()],
    ['KiB', ({ bytesPerSocket }) => (bytesPerSocket / 1024).toFixed(1)],
  ];
}
