import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { summarise } from '../figures.ts';
import type { TargetOptions } from '../targets/target.ts';
import { startProduct } from './start-product.ts';

/** What is there already: nothing, what Node has compiled at an earlier start, or that and the data. */
export const KINDS = ['first of all', 'new data', 'again'] as const;
export type StartKind = (typeof KINDS)[number];

export interface Start {
  readyMs: number;
  cpuMs: number;
}

export interface StartsMeasured extends Start {
  kind: StartKind;
  rounds: Start[];
}

/** The kinds take turns. `again` starts on the data that `new data` has left. */
export async function measureStarts(
  options: Omit<TargetOptions, 'log'> & { starts: number; signal: AbortSignal; log: (line: string) => void },
): Promise<StartsMeasured[]> {
  const { dataDir, env, starts, signal, log } = options;
  const found = new Map(KINDS.map((kind) => [kind, new Array<Start>()]));
  // Whatever the compile cache lacks is not to be paid for by the first round.
  await startOf('new data', options);
  for (let round = 1; round <= starts; round++)
    for (const kind of KINDS) {
      signal.throwIfAborted();
      log(`start ${round}: ${kind} …`);
      found.get(kind)?.push(await startOf(kind, { dataDir, env }));
    }
  return [...found].map(([kind, rounds]) => ({ kind, ...summarise(rounds) }));
}

async function startOf(kind: StartKind, { dataDir, env }: Omit<TargetOptions, 'log'>): Promise<Start> {
  const compiled = join(dataDir, 'compiled');
  const data = join(dataDir, 'data');
  if (kind === 'first of all') rmSync(compiled, { recursive: true, force: true });
  if (kind !== 'again') rmSync(data, { recursive: true, force: true });
  const product = await startProduct({
    dataDir: data,
    env: kind === 'first of all' ? { ...env, NODE_COMPILE_CACHE: compiled } : env,
  });
  await product.stop();
  return { readyMs: product.readyMs, cpuMs: product.cpuMs };
}
