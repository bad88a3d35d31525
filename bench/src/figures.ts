import type { LoadFigures } from './load/messages.ts';
import type { Cell } from './operations.ts';
import type { Role } from './targets/target.ts';

/** One round of a cell. CPU in milliseconds per request: by process, and summed by role. */
export interface Round extends LoadFigures {
  cpuByPart: Record<string, number>;
  cpuByRole: Record<Role, number>;
}

/** The medians of a cell's rounds. */
export interface Figures {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuByPart: Record<string, number>;
  cpuByRole: Record<Role, number>;
  /** Server and PostgreSQL. */
  cpuSum: number;
}

export interface Measured extends Cell, Figures {
  rounds: Round[];
}

export function summarise(cell: Cell, rounds: Round[]): Measured {
  const middle = (of: (round: Round) => number) => median(rounds.map(of));
  const byRole = (role: Role) => middle(({ cpuByRole }) => cpuByRole[role]);
  const parts = Object.keys(rounds[0]?.cpuByPart ?? {});
  return {
    ...cell,
    requests: rounds.reduce((sum, { requests }) => sum + requests, 0),
    perSecond: middle(({ requests, seconds }) => requests / seconds),
    p50Ms: middle(({ p50Ms }) => p50Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
    cpuByPart: Object.fromEntries(parts.map((part) => [part, middle(({ cpuByPart }) => cpuByPart[part] ?? 0)])),
    cpuByRole: {
      server: byRole('server'),
      postgres: byRole('postgres'),
      redis: byRole('redis'),
      kafka: byRole('kafka'),
    },
    cpuSum: middle(({ cpuByRole }) => cpuByRole.server + cpuByRole.postgres),
    rounds,
  };
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which a share `q` of all lie, by linear interpolation; NaN of nothing. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const place = (sorted.length - 1) * q;
  const lower = sorted[Math.floor(place)] ?? NaN;
  const upper = sorted[Math.ceil(place)] ?? NaN;
  return lower + (upper - lower) * (place - Math.floor(place));
}
