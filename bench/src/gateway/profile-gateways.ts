import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeProfile } from '../profile/run-profile.ts';
import { signalAll } from '../profile/signal-all.ts';
import { summarise } from '../profile/summary.ts';
import { withLoad, type MeasureGatewaysOptions } from './measure-gateways.ts';

export interface ProfileGatewaysOptions extends MeasureGatewaysOptions {
  /** Where the profiler's hook writes. */
  profileDir: string;
  resultsDir: string;
}

/** Profiles each gateway under each query, prints where its time goes, and keeps the profiles in `resultsDir`. */
export async function profileGateways(options: ProfileGatewaysOptions): Promise<void> {
  const { queries, engines, seconds, warmUpSeconds, profileDir, resultsDir, log } = options;
  mkdirSync(resultsDir, { recursive: true });
  for (const query of queries) {
    for (const engine of engines) {
      const { name, pid } = engine;
      const { cpuMs, requests } = await withLoad({ ...options, query, engine }, async (run) => {
        await run(warmUpSeconds);
        await signalAll([pid], profileDir, 'begun');
        const figures = await run(seconds);
        await signalAll([pid], profileDir, 'cpuprofile');
        return figures;
      });
      const title = `gateway-${query}-${name}`;
      const text = readFileSync(join(profileDir, `${pid}.cpuprofile`), 'utf8');
      writeFileSync(join(resultsDir, `${title}.cpuprofile`), text);
      log(`\n${title}: ${cpuMs.toFixed(3)} CPU-ms per request while profiled (${requests} requests)`);
      log(describeProfile(summarise(JSON.parse(text)), cpuMs));
      for (const ending of ['begun', 'cpuprofile']) rmSync(join(profileDir, `${pid}.${ending}`));
    }
  }
}
