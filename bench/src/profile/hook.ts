import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

// Loaded into a server before its own code: the first SIGUSR2 begins a CPU profile, the next one writes it.
const SAMPLE_EVERY_US = 250;
const dir = process.env.PROFILE_DIR;
let session: Session | undefined;

if (dir !== undefined) {
  process.on('SIGUSR2', () => void (session ? finish(session, dir) : begin(dir)));
}

async function begin(into: string): Promise<void> {
  session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
  await session.post('Profiler.start');
  writeFileSync(join(into, `${process.pid}.begun`), '');
}

async function finish(running: Session, into: string): Promise<void> {
  session = undefined;
  const { profile } = await running.post('Profiler.stop');
  running.disconnect();
  const file = join(into, `${process.pid}.cpuprofile`);
  writeFileSync(`${file}.part`, JSON.stringify(profile));
  renameSync(`${file}.part`, file);
}
