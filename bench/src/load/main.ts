import { answerCalls } from '../processes/calls.ts';
import { listBesideLogins, type BesideLoginsOrder } from './beside-logins.ts';
import { openConnections, type Workload } from './connections.ts';
import { populate, type Population } from './population.ts';

// A process of its own: what it takes to send requests is not part of what they cost.
const targets = new Map<string, { url: string; population: Population }>();
let connections: Awaited<ReturnType<typeof openConnections>> | undefined;

const calls = {
  async populate(target: string, url: string, count: number) {
    targets.set(target, { url, population: await populate(url, count) });
  },
  /** Opens the connections of a cell, at a target by the name that it was populated by, and looks at one answer on each. */
  async open({ target, ...workload }: Workload & { target: string }) {
    const { url, population } = populated(target);
    connections = await openConnections(url, workload, population);
  },
  async run(seconds: number) {
    if (!connections) throw new Error('No connection is open.');
    return connections.run(seconds);
  },
  /** Needs no connections: it opens, and closes, its own. */
  async listBesideLogins(target: string, order: BesideLoginsOrder) {
    const { url, population } = populated(target);
    return listBesideLogins(url, population, order);
  },
  async close() {
    await connections?.close();
    connections = undefined;
  },
};
export type LoadCalls = typeof calls;
answerCalls(calls);

function populated(name: string) {
  const target = targets.get(name);
  if (!target) throw new Error(`Nobody has accounts at ${name}.`);
  return target;
}
