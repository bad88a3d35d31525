import { cpuOf, type Amounts, type Costs, type Cpu, type Part, type Work } from './work.ts';

/** A stretch of work that was measured, and what it is to tell: what one unit of a kind costs in some parts. */
export interface Cell {
  kind: Work;
  parts: readonly Part[];
  /** All that was done, of known kinds and of this one. */
  amounts: Amounts;
}

/** Whatever the known kinds do not explain is the new kind's. Less than nothing is nothing. */
export function attribute(costs: Costs, { kind, parts, amounts }: Cell, measured: Cpu): Costs {
  const known = cpuOf({ ...amounts, [kind]: 0 }, costs);
  const count = amounts[kind] ?? 0;
  const found = parts.map((part) => [part, Math.max(0, measured[part] - known[part]) / count] as const);
  return { ...costs, [kind]: { ...costs[kind], ...Object.fromEntries(found) } };
}
