import type { PROFILE } from './profile.ts';
import { roundsPerS, type Amounts } from './work.ts';

/** What owners do in the busy hour, and what is kept for them. */
export type Demand = typeof PROFILE & { owners: number };

/** How many processes share the work. */
export interface Deployment {
  gateways: number;
  tasks: number;
  auth: number;
}

/** So many relays can work side by side (`PARTITIONS` of the tasks service). */
export const MOST_RELAYS = 8;

/** The work of one second. */
export function workOf(demand: Demand, { gateways, tasks, auth }: Deployment, roundMs: number): Amounts {
  const { owners, onlineShare, socketsPerOnline, perHour } = demand;
  const online = owners * onlineShare;
  const perS = (times: number) => (online * times) / 3_600;
  const changes = perS(perHour.create + perHour.update);
  const relays = Math.min(tasks, MOST_RELAYS);
  const rounds = relays * roundsPerS(changes / relays, roundMs);
  // Sockets of one owner are spread like all others: some of them meet at a gateway.
  const others = socketsPerOnline - 1;
  return {
    servers: 1,
    gateway: gateways,
    tasks,
    auth,
    list: perS(perHour.list),
    get: perS(perHour.get),
    statistics: perS(perHour.statistics),
    login: perS(perHour.login),
    create: perS(perHour.create),
    update: perS(perHour.update),
    round: rounds,
    change: changes,
    fetch: rounds * gateways,
    record: changes * gateways,
    delivered: changes * (1 + others * (1 - 1 / gateways)),
    further: (changes * others) / gateways,
    open: perS(perHour.open),
    socket: online * socketsPerOnline,
  };
}
