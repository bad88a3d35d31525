import { networkOf, type Clock } from '@taskmesh/service';

export interface LimitOptions {
  perUser: number;
  perIp: number;
  /** Averaged over ten seconds. */
  messagesPerS: number;
  clock: Clock;
}

/** How many connections and messages one client may have. */
export interface SocketLimits {
  /** A place for a connection of this address's network; undefined when there is none left. The returned function gives it back. */
  takeIp(ip: string): (() => void) | undefined;
  /** For one more of a network without a place, so that it can be told. */
  takeRefusal(ip: string): (() => void) | undefined;
  takeUser(userId: string): (() => void) | undefined;
  /** For one connection: says for each message whether it is still within the rate. */
  messages(): () => boolean;
}

const WINDOW_MS = 10_000;
/** How many connections of one address may be in the middle of being turned away. */
const REFUSALS_PER_IP = 100;

export function createSocketLimits({ perUser, perIp, messagesPerS, clock }: LimitOptions): SocketLimits {
  const users = places(perUser);
  const ips = places(perIp);
  const refusals = places(REFUSALS_PER_IP);
  return {
    takeIp: (ip) => ips(networkOf(ip)),
    takeRefusal: (ip) => refusals(networkOf(ip)),
    takeUser: users,
    messages() {
      let windowStart = clock.now();
      let count = 0;
      return () => {
        const now = clock.now();
        if (now - windowStart >= WINDOW_MS) {
          windowStart = now;
          count = 0;
        }
        return ++count <= messagesPerS * (WINDOW_MS / 1000);
      };
    },
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
