import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Loaded into a server before its own code: at each SIGUSR2 it does what HOOK says, and writes the outcome into HOOK_DIR.
const SAMPLE_EVERY_US = 250;
const { HOOK_DIR: dir, HOOK: kind } = process.env;
let session: Session | undefined;

if (dir !== undefined) {
  process.on('SIGUSR2', () => {
    const work = kind === 'memory' ? collected : session ? finishProfile : beginProfile;
    void work().then((text) => {
      const file = join(dir, String(process.pid));
      writeFileSync(`${file}.part`, text);
      renameSync(`${file}.part`, file);
    });
  });
}

/** What is held on to: in V8's heap and beside it, in bytes. */
async function collected(): Promise<string> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return String(heapUsed + external);
}

async function beginProfile(): Promise<string> {
  session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
  await session.post('Profiler.start');
  return '';
}

async function finishProfile(): Promise<string> {
  const running = session;
  session = undefined;
  const stopped = await running?.post('Profiler.stop');
  running?.disconnect();
  return JSON.stringify(stopped?.profile);
}
