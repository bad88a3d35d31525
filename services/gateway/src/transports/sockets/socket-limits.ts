import { networkOf } from '@taskmesh/service';

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
  const users = places(perUser);
  const ips = places(perIp);
  const refusals = places(REFUSALS_PER_IP);
  return {
    takeIp: (ip) => ips(networkOf(ip)),
    takeRefusal: (ip) => refusals(networkOf(ip)),
    takeUser: users,
  };
}

function places(limit: number): (key: string) => (() => void) | undefined {
  const taken = new Map<string, number>();
  return (key) => {
    const count = taken.get(key) ?? 0;
    if (count >= limit) return undefined;
    taken.set(key, count + 1);
    let isGivenBack = false;
    return () => {
      if (isGivenBack) return;
      isGivenBack = true;
      const left = (taken.get(key) ?? 1) - 1;
      if (left > 0) taken.set(key, left);
      else taken.delete(key);
    };
  };
}
