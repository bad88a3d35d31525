import { startNode } from '../targets/node-process.ts';
import type { BesideLoginsFigures, BesideLoginsOrder, LoadFigures, Opening, Order, Reply } from './messages.ts';

/** The process that sends the requests. One order at a time. */
export interface Load {
  populate(target: string, url: string, connections: number): Promise<void>;
  /** Opens the connections of a cell and looks at one answer on each. */
  open(cell: Opening): Promise<void>;
  run(seconds: number): Promise<LoadFigures>;
  /** Needs no connections: it opens, and closes, its own. */
  listBesideLogins(target: string, order: BesideLoginsOrder): Promise<BesideLoginsFigures>;
  close(): Promise<void>;
  stop(): Promise<void>;
}

/** The load's own collections would look like latencies of the servers: rare, and between measurements where it matters. */
const GARBAGE = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];

export async function startLoad(logFile: string): Promise<Load> {
  const file = new URL('main.ts', import.meta.url);
  const load = await startNode({ name: 'load', file, execArgv: GARBAGE, env: process.env, logFile });
  const give = async (order: Order) => {
    const reply = (await load.ask(order)) as Reply; // both ends are ours
    if ('failure' in reply) throw new Error(reply.failure);
    return reply.figures;
  };
  return {
    populate: async (target, url, connections) => void (await give({ do: 'populate', target, url, connections })),
    open: async (cell) => void (await give({ do: 'open', ...cell })),
    async run(seconds) {
      const figures = await give({ do: 'run', seconds });
      if (!figures || 'loginsPerSecond' in figures) throw new Error('The load process gave no figures.');
      return figures;
    },
    async listBesideLogins(target, order) {
      const figures = await give({ do: 'list beside logins', target, ...order });
      if (!figures || !('loginsPerSecond' in figures)) throw new Error('The load process gave no figures.');
      return figures;
    },
    close: async () => void (await give({ do: 'close' })),
    stop: load.stop,
  };
}
