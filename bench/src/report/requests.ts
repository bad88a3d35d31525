import { LISTS_PER_SECOND, PARALLEL_LOGINS, ROUND_FACTOR, type BesideLogins } from '../measure-beside-logins.ts';
import type { Measured } from '../measure.ts';
import { OPERATIONS } from '../operations.ts';
import type { Options } from '../options.ts';
import { describeOrigin, type Origin } from './machine.ts';
import { table, type Column } from './table.ts';

/** Everything that a run about requests found. */
export interface Report extends Origin {
  parameters: Pick<Options, 'connections' | 'rounds' | 'seconds' | 'warmUpSeconds'>;
  measured: Measured[];
  besideLogins: BesideLogins[];
}

/** The tables that a run has, each with where, when and how it was measured. */
export function describeRequests(report: Report): Record<string, string> {
  const { measured, besideLogins } = report;
  const { connections, rounds, seconds, warmUpSeconds } = report.parameters;
  const how = `${connections} connections · median of ${rounds} rounds of ${seconds} s, after ${warmUpSeconds} s to warm up · CPU in ms per request`;
  const howBeside = `${LISTS_PER_SECOND} lists of 50 a second, alone and beside ${PARALLEL_LOGINS} parallel logins · median of ${rounds} rounds of ${ROUND_FACTOR * seconds} s of each, in slices by turns`;
  return {
    ...(measured.length > 0 && { figures: `${describeOrigin(report, how)}\n\n${requestTable(measured)}` }),
    ...(besideLogins.length > 0 && {
      'beside logins': `${describeOrigin(report, howBeside)}\n\n${table(besideLogins, BESIDE_LOGINS)}`,
    }),
  };
}

function requestTable(measured: readonly Measured[]): string {
  const bareOf = ({ operation }: Measured) =>
    measured.find((other) => other.target === 'bare' && other.operation === operation);
  const timesBare = (row: Measured) => {
    const bare = bareOf(row);
    return bare && bare !== row ? (row.cpuSum / bare.cpuSum).toFixed(2) : '';
  };
  const ofSeparate = (role: 'redis' | 'kafka') => (row: Measured) =>
    row.target === 'separate' ? row.cpuByRole[role] : '';
  const rows = OPERATIONS.flatMap((name) => measured.filter(({ operation }) => operation === name));
  return table(rows, {
    words: [
      ['operation', ({ operation }) => operation],
      ['target', ({ target }) => target],
      ['over', ({ protocol }) => (protocol === 'rest' ? 'REST' : 'GraphQL')],
    ],
    figures: [
      ['server', ({ cpuByRole }) => cpuByRole.server + cpuByRole.inner],
      ['PostgreSQL', ({ cpuByRole }) => cpuByRole.postgres],
      ['sum', ({ cpuSum }) => cpuSum],
      ['× bare', timesBare],
      ['Redis', ofSeparate('redis')],
      ['Kafka', ofSeparate('kafka')],
      ['p50 ms', ({ p50Ms }) => p50Ms],
      ['p99 ms', ({ p99Ms }) => p99Ms],
      ['requests/s', ({ perSecond }) => Math.round(perSecond).toString()],
    ],
  });
}

const BESIDE_LOGINS: { words: Column<BesideLogins>[]; figures: Column<BesideLogins>[] } = {
  words: [['lists at', ({ target }) => target]],
  figures: [
    ['alone p50 ms', ({ alone }) => alone.p50Ms],
    ['p99 ms', ({ alone }) => alone.p99Ms],
    ['beside logins p50 ms', ({ beside }) => beside.p50Ms],
    ['p99 ms', ({ beside }) => beside.p99Ms],
    ['p99 ×', ({ ratio }) => ratio.toFixed(2)],
    ['logins/s', ({ loginsPerSecond }) => Math.round(loginsPerSecond).toString()],
  ],
};
