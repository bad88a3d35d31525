import { startNode } from '../../targets/node-process.ts';
import type { FeedLoadOptions, FeedOrder, FeedReply, StretchFigures, StretchOrder } from './messages.ts';

/** The process with the sockets. One order at a time. */
export interface FeedLoadProcess {
  /** Opens the sockets of a cell. */
  open(options: FeedLoadOptions): Promise<void>;
  run(order: StretchOrder): Promise<StretchFigures>;
  close(): Promise<void>;
  stop(): Promise<void>;
}

export async function startFeedLoad(logFile: string): Promise<FeedLoadProcess> {
  const file = new URL('main.ts', import.meta.url);
  const load = await startNode({ name: 'load', file, env: process.env, logFile });
  const give = async (order: FeedOrder) => {
    const reply = (await load.ask(order)) as FeedReply; // both ends are ours
    if ('failure' in reply) throw new Error(reply.failure);
    return reply.figures;
  };
  return {
    open: async (options) => void (await give({ do: 'open', ...options })),
    async run(order) {
      const figures = await give({ do: 'run', ...order });
      if (!figures) throw new Error('The load process gave no figures.');
      return figures;
    },
    close: async () => void (await give({ do: 'close' })),
    stop: load.stop,
  };
}
