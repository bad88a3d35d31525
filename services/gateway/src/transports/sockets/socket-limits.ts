import { places, placesOfNetworks, type TakePlace } from '../../http/client-connections.ts';

export interface LimitOptions {
  perUser: number;
  perIp: number;
}

export interface SocketLimits {
  /** By address. */
  takeIp: TakePlace;
  /** By address: lets in one more connection over the limit, only to say so. */
  takeRefusal: TakePlace;
  takeUser: TakePlace;
}

/** How many connections of one network may be in the middle of being refused. */
const REFUSALS_PER_IP = 100;

export function createSocketLimits({ perUser, perIp }: LimitOptions): SocketLimits {
  return {
    takeIp: placesOfNetworks(perIp),
    takeRefusal: placesOfNetworks(REFUSALS_PER_IP),
    takeUser: places(perUser),
  };
}
