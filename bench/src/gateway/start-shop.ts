import { Closers } from '@taskmesh/service';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startNode } from '../targets/node-process.ts';
import { composeShop } from './shop/services.ts';

/** The services behind the gateways. */
export interface RunningShop {
  supergraphFile: string;
  /** How many requests came so far. */
  requests(): Promise<number>;
  stop(): Promise<void>;
}

export async function startShop(dataDir: string): Promise<RunningShop> {
  const closers = new Closers();
  const services = await startNode({
    name: 'services',
    file: new URL('subgraphs/main.ts', import.meta.url),
    env: process.env,
    logFile: join(dataDir, 'services.log'),
  });
  closers.add(() => services.stop());
  try {
    const { url } = (await services.nextMessage()) as { url: string }; // its first words
    const supergraphFile = join(dataDir, 'shop.graphql');
    writeFileSync(supergraphFile, composeShop(url));
    return {
      supergraphFile,
      requests: async () => ((await services.ask({})) as { requests: number }).requests, // what it answers to anything
      stop: () => closers.closeAll(),
    };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}
