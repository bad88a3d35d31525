import { Closers } from '@taskmesh/service';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startNode } from '../processes/start-node.ts';
import { composeShop } from './shop/services.ts';

/** The services behind the gateways. */
export interface RunningShop {
  supergraphFile: string;
  /** How many requests came so far. */
  requests(): Promise<number>;
  stop(): Promise<void>;
}

export async function startShop(dataDir: string): Promise<RunningShop> {
  await using closers = new Closers();
  const file = new URL('subgraphs/main.ts', import.meta.url);
  const services = await startNode({ file, env: process.env, logFile: join(dataDir, 'services.log') });
  closers.add(() => services.stop());
  const { url } = (await services.nextMessage()) as { url: string }; // its first words
  const supergraphFile = join(dataDir, 'shop.graphql');
  writeFileSync(supergraphFile, composeShop(url));
  return {
    supergraphFile,
    async requests() {
      const answer = services.nextMessage();
      services.process.send({}); // it answers anything with this
      return ((await answer) as { requests: number }).requests;
    },
    stop: closers.handOver(),
  };
}
