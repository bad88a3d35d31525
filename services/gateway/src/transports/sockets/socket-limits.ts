import { networkOf } from '@taskmesh/service';
import { createPlaces } from '../../http/client-connections.ts';

export interface LimitOptions {
  perUser: number;
  perIp: number;
}

export interface SocketLimits {
  /** Reserves a connection for the address's network and returns how to release it; undefined when none is left. */
  takeIp(ip: string): (() => void) | undefined;
  /** Lets in one more connection over the limit, only to tell it so. */
  takeRefusal(ip: string): (() => void) | undefined;
  takeUser(userId: string): (() => void) | undefined;
}

/** How many connections of one network may be in the middle of being refused. */
const REFUSALS_PER_IP = 100;

export function createSocketLimits({ perUser, perIp }: LimitOptions): SocketLimits {
  const users = createPlaces(perUser);
  const ips = createPlaces(perIp);
  const refusals = createPlaces(REFUSALS_PER_IP);
  return {
    takeIp: (ip) => ips(networkOf(ip)),
    takeRefusal: (ip) => refusals(networkOf(ip)),
    takeUser: users,
  };
}
