import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from '../processes/start-node.ts';
import { composeShop } from './shop/services.ts';

export type RunningShop = Awaited<ReturnType<typeof startShop>>;

/** The services behind the gateways. */
export async function startShop(dataDir: string) {
  const file = new URL('subgraphs/main.ts', import.meta.url);
  const services = await startServer({ file, env: process.env, logFile: join(dataDir, 'services.log') });
  const supergraphFile = join(dataDir, 'shop.graphql');
  writeFileSync(supergraphFile, composeShop(services.url));
  return {
    supergraphFile,
    /** How many requests came so far. */
    async requests() {
      const answer = services.nextMessage();
      services.process.send({}); // it answers anything with this
      return ((await answer) as { requests: number }).requests;
    },
    stop: () => services.stop(),
  };
}
