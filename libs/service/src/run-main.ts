import { ConfigError } from './config.ts';
import { settlesWithin } from './deadline.ts';
import { setV8Flags } from './v8-flags.ts';
import type { Service } from './lifecycle.ts';
import type { Log } from './log.ts';
import { misspelt } from './misspelt.ts';
import { shortTokens } from './short-tokens.ts';
import { surviveClosedOutput } from './survive-closed-output.ts';
import { trimMemory } from './trim-memory.ts';

/** How long a process may take to stop what it runs. */
export const STOP_DEADLINE_MS = 25_000;

/**
 * The life of a process: create, start, wait for SIGTERM or SIGINT, stop, exit. Wrong configuration prints all problems
 * to standard error and exits with 1; a second signal exits at once.
 */
export async function runMain(create: () => Promise<{ service: Service; log: Log }> | { service: Service; log: Log }) {
  setV8Flags();
  surviveClosedOutput();
  const { service, log } = await createOrExit(create);
  for (const problem of [...misspelt(process.env), ...shortTokens(process.env)]) log.warn(problem);
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error({ deadlineMs: STOP_DEADLINE_MS }, 'did not stop in time');
      process.exit(1);
    }, STOP_DEADLINE_MS).unref();
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'failed to stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  try {
    await service.start();
    trimMemory();
  } catch (error) {
    if (stopping) return; // a start interrupted by the stop
    if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
    else log.fatal({ err: error }, 'failed to start');
    await settlesWithin(service.stop(), STOP_DEADLINE_MS).catch(() => undefined);
    process.exit(1);
  }
}

async function createOrExit(create: Parameters<typeof runMain>[0]) {
  try {
    return await create();
  } catch (error) {
    process.stderr.write(`${error instanceof ConfigError ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
