import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import type { Surroundings } from './benchmark.ts';
import { hookSettings } from './hooks/ask-hook.ts';
import { startLoad, type Load } from './load/start-load.ts';
import { cellsOf, measure, type Measured } from './measure.ts';
import { measureBesideLogins, type BesideLogins } from './measure-beside-logins.ts';
import type { TargetName } from './operations.ts';
import type { Options } from './options.ts';
import { profile } from './profile/profile.ts';
import { describeMachine } from './report/machine.ts';
import { startTargets } from './targets/start-targets.ts';
import type { Target } from './targets/target.ts';

/** The whole comparison: what requests cost at all targets side by side, then lists beside logins at each for itself. */
export async function runBench(options: Options & Surroundings) {
  if (options.profile) return void (await profileRequests(options));
  const { dataDir, log, targets: names, operations } = options;
  let measured: Measured[] = [];
  const besideLogins: BesideLogins[] = [];
  let postgresVersion = '';
  if (operations.length > 0)
    await atTargets(names, options, async (running) => {
      measured = await measure({ ...options, ...running });
      postgresVersion = running.targets[0]?.postgresVersion ?? '';
    });
  for (const name of options.besideLogins ? names : [])
    await atTargets([name], { ...options, dataDir: join(dataDir, 'beside-logins') }, async ({ targets, load }) => {
      log(`${name}: lists beside logins …`);
      besideLogins.push(await measureBesideLogins({ ...options, target: name, load }));
      postgresVersion = targets[0]?.postgresVersion ?? '';
    });
  return { machine: describeMachine(postgresVersion), measured, besideLogins };
}

/** Does something while these targets, and no others, run and have their accounts and tasks. */
async function atTargets(
  names: readonly TargetName[],
  options: Surroundings & { connections: number; settings?: Record<string, string> },
  work: (running: { targets: Target[]; load: Load }) => Promise<void>,
): Promise<void> {
  await using closers = new Closers();
  const { targets } = closers.use(await startTargets(names, options, options));
  const load = closers.use(await startLoad(join(options.dataDir, 'load.log')));
  for (const { name, url } of targets) {
    options.log(`Accounts and tasks for ${name} …`);
    await load.populate(name, url, options.connections);
    options.signal.throwIfAborted();
  }
  await work({ targets, load });
}

/** Where the servers' time goes, in place of figures. */
async function profileRequests(options: Options & Surroundings): Promise<void> {
  const { operations, seconds, warmUpSeconds, signal, log } = options;
  const hookDir = join(options.dataDir, 'hooks');
  const settings = hookSettings('profile', hookDir);
  await atTargets(options.targets, { ...options, settings }, async ({ targets, load }) => {
    for (const { cell, target } of operations.flatMap((operation) => cellsOf(operation, targets))) {
      signal.throwIfAborted();
      await load.open(cell);
      await load.run(warmUpSeconds);
      await target.settle();
      const title = `${cell.operation}-${cell.protocol}-${cell.target}`;
      const ours = target.parts.filter(({ role }) => role === 'server' || role === 'inner');
      const work = async () => {
        const { requests } = await load.run(seconds);
        await target.settle();
        return requests;
      };
      const servers = ours.map(({ name, pid }) => ({ title: `${title}-${name}`, pid }));
      await profile({ servers, hookDir, work, unit: 'request', log });
      await load.close();
    }
  });
}
