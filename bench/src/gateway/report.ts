import type { Machine } from '../report/machine.ts';
import { machineLine } from '../report/publish.ts';
import { alignedTable } from '../report/table.ts';
import { TITLES, type EngineName } from './engines/engine.ts';
import type { GatewayMeasured } from './figures.ts';
import type { GatewayOptions } from './options.ts';
import { QUERIES } from './queries.ts';

/** Everything a run found. */
export interface GatewayReport {
  /** RFC 3339 */
  startedAt: string;
  machine: Machine;
  parameters: Pick<GatewayOptions, 'connections' | 'rounds' | 'seconds' | 'warmUpSeconds'>;
  /** CPU time that others took meanwhile, as a share of all cores. */
  othersShare: number;
  missing: { name: EngineName; reason: string }[];
  measured: GatewayMeasured[];
}

const COLUMNS = ['query', 'gateway', 'CPU-ms', '× Taskmesh', 'calls', 'peak MiB', 'p50 ms', 'p99 ms', 'requests/s'];
/** So many columns at the left hold words. */
const WORDS = 2;
/** With more of the machine in others' hands, the figures say little. */
const BUSY = 0.05;

/** Where, when and how, and the table. */
export function describeGateways({
  startedAt,
  machine,
  parameters,
  othersShare,
  missing,
  measured,
}: GatewayReport): string {
  const { connections, rounds, seconds, warmUpSeconds } = parameters;
  const busy = `Others took ${Math.round(othersShare * 100)} % of the machine meanwhile: to be taken again on a quiet one.`;
  const notes = [
    machineLine(startedAt, machine),
    `${connections} connections · median of ${rounds === 1 ? 'one round' : `${rounds} rounds`} of ${seconds} s, after ${warmUpSeconds} s to warm up · CPU in ms per request`,
    ...missing.map(({ name, reason }) => `Without ${TITLES[name]}: ${reason}`),
    ...(othersShare > BUSY ? [busy] : []),
  ];
  return `${notes.join('  \n')}\n\n${gatewayTable(measured)}`;
}

function gatewayTable(measured: readonly GatewayMeasured[]): string {
  const rows = QUERIES.flatMap((query) => measured.filter((row) => row.query === query)).map((row) => {
    const ours = measured.find(({ query, engine }) => query === row.query && engine === 'taskmesh');
    return [
      row.query,
      TITLES[row.engine],
      row.cpuMs.toFixed(row.cpuMs >= 1 ? 2 : 3),
      ours && ours !== row ? (row.cpuMs / ours.cpuMs).toFixed(2) : '',
      row.calls.toFixed(1),
      Math.round(row.peakMiB).toString(),
      row.p50Ms.toFixed(row.p50Ms >= 10 ? 1 : 2),
      row.p99Ms.toFixed(row.p99Ms >= 10 ? 1 : 2),
      Math.round(row.perSecond).toString(),
    ];
  });
  return alignedTable(COLUMNS, WORDS, rows);
}
