import { describeOrigin, type Origin } from '../report/machine.ts';
import { table } from '../report/table.ts';
import { TITLES, type EngineName } from './engines/engine.ts';
import type { GatewayMeasured } from './measure-gateways.ts';
import type { GatewayOptions } from './options.ts';
import { QUERIES } from './queries.ts';

/** Everything a run found. */
export interface GatewayReport extends Origin {
  parameters: Pick<GatewayOptions, 'connections' | 'rounds' | 'seconds' | 'warmUpSeconds'>;
  missing: { name: EngineName; reason: string }[];
  measured: GatewayMeasured[];
}

/** Where, when and how, and the table. */
export function describeGateways(report: GatewayReport): Record<string, string> {
  const { missing, measured } = report;
  const { connections, rounds, seconds, warmUpSeconds } = report.parameters;
  const how = [
    `${connections} connections · median of ${rounds === 1 ? 'one round' : `${rounds} rounds`} of ${seconds} s, after ${warmUpSeconds} s to warm up · CPU in ms per request`,
    ...missing.map(({ name, reason }) => `Without ${TITLES[name]}: ${reason}`),
  ];
  return { 'gateway figures': `${describeOrigin(report, how.join('  \n'))}\n\n${gatewayTable(measured)}` };
}

function gatewayTable(measured: readonly GatewayMeasured[]): string {
  const timesOurs = (row: GatewayMeasured) => {
    const ours = measured.find(({ query, engine }) => query === row.query && engine === 'taskmesh');
    return ours && ours !== row ? (row.cpuMs / ours.cpuMs).toFixed(2) : '';
  };
  const rows = QUERIES.flatMap((query) => measured.filter((row) => row.query === query));
  return table(rows, {
    words: [
      ['query', ({ query }) => query],
      ['gateway', ({ engine }) => TITLES[engine]],
    ],
    figures: [
      ['CPU-ms', ({ cpuMs }) => cpuMs],
      ['× Taskmesh', timesOurs],
      ['calls', ({ calls }) => calls.toFixed(1)],
      ['peak MiB', ({ peakMiB }) => Math.round(peakMiB).toString()],
      ['p50 ms', ({ p50Ms }) => p50Ms],
      ['p99 ms', ({ p99Ms }) => p99Ms],
      ['requests/s', ({ perSecond }) => Math.round(perSecond).toString()],
    ],
  });
}
