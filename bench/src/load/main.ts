import { quantile } from '../figures.ts';
import { listBesideLogins } from './beside-logins.ts';
import { openConnections, type Connections } from './connections.ts';
import type { BesideLoginsFigures, LoadFigures, Order, Reply } from './messages.ts';
import { populate, type Population } from './population.ts';

// A process of its own: what it takes to send requests is not part of what they cost.
const targets = new Map<string, { url: string; population: Population }>();
let connections: Connections | undefined;

process.once('disconnect', () => process.exit(0));
process.on('message', (order: Order) => {
  obey(order).then(
    (figures) => answer({ ...(figures && { figures }) }),
    (error: unknown) => answer({ failure: error instanceof Error ? error.message : String(error) }),
  );
});

function answer(reply: Reply): void {
  process.send?.(reply);
}

async function obey(order: Order): Promise<LoadFigures | BesideLoginsFigures | undefined> {
  switch (order.do) {
    case 'populate':
      targets.set(order.target, { url: order.url, population: await populate(order.url, order.connections) });
      return undefined;
    case 'open': {
      const { url, population } = populated(order.target);
      connections = await openConnections(url, order, population);
      return undefined;
    }
    case 'run': {
      if (!connections) throw new Error('No connection is open.');
      const { requests, seconds, latenciesMs } = await connections.run(order.seconds);
      return { requests, seconds, p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99) };
    }
    case 'list beside logins': {
      const { url, population } = populated(order.target);
      return listBesideLogins(url, population, order);
    }
    case 'close':
      await connections?.close();
      connections = undefined;
      return undefined;
  }
}

function populated(name: string) {
  const target = targets.get(name);
  if (!target) throw new Error(`Nobody has accounts at ${name}.`);
  return target;
}
