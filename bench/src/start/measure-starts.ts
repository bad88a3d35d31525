import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Surroundings } from '../benchmark.ts';
import { summarise } from '../figures.ts';
import { startProduct } from '../targets/embedded.ts';
import type { TargetOptions } from '../targets/target.ts';

/** What is there already: nothing, what Node has compiled at an earlier start, or that and the data. */
const KINDS = ['first of all', 'new data', 'again'] as const;
type StartKind = (typeof KINDS)[number];

type Start = Awaited<ReturnType<typeof startOf>>;
export type StartsMeasured = Awaited<ReturnType<typeof measureStarts>>[number];

/** The kinds take turns. `again` starts on the data that `new data` has left. */
export async function measureStarts(options: Surroundings & { starts: number }) {
  const { dataDir, env, starts, signal, log } = options;
  const found = new Map(KINDS.map((kind) => [kind, new Array<Start>()]));
  await startOf('new data', options); // whatever the compile cache lacks is not to be paid for by the first round
  for (let round = 1; round <= starts; round++)
    for (const kind of KINDS) {
      signal.throwIfAborted();
      log(`start ${round}: ${kind} …`);
      found.get(kind)?.push(await startOf(kind, { dataDir, env }));
    }
  return [...found].map(([kind, rounds]) => ({ kind, ...summarise(rounds) }));
}

async function startOf(kind: StartKind, { dataDir, env }: Omit<TargetOptions, 'log'>) {
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
