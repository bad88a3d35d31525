import { startNode } from '../../targets/node-process.ts';
import type { LoadFigures, Order, Reply } from './messages.ts';
import type { SendersOptions } from './senders.ts';

/** The process that sends the requests. One order at a time. */
export interface GatewayLoad {
  /** Opens connections, and compares one answer on each with the right one. */
  open(options: SendersOptions): Promise<void>;
  run(seconds: number): Promise<LoadFigures>;
  close(): Promise<void>;
  stop(): Promise<void>;
}

export async function startGatewayLoad(logFile: string): Promise<GatewayLoad> {
  const file = new URL('main.ts', import.meta.url);
  const load = await startNode({ name: 'load', file, env: process.env, logFile });
  const give = async (order: Order) => {
    const reply = (await load.ask(order)) as Reply; // both ends are ours
    if ('failure' in reply) throw new Error(reply.failure);
    return reply.figures;
  };
  return {
    open: async (options) => void (await give({ do: 'open', ...options })),
    async run(seconds) {
      const figures = await give({ do: 'run', seconds });
      if (!figures) throw new Error('The load process gave no figures.');
      return figures;
    },
    close: async () => void (await give({ do: 'close' })),
    stop: load.stop,
  };
}
