import { unavailable } from '@taskmesh/contracts';
import { count, networkOf, siteOf } from '@taskmesh/service';
import type { OperationRun, RequestCall } from './operation.ts';

const MIB = 1024 * 1024;
/** Everything made from a response takes a few times its size until the operation is over. */
const MAX_BYTES = 64 * MIB;
const MAX_BYTES_OF_SITE = 24 * MIB;
/** Sites that hold at most this much, a few large pages, may use as much again. Otherwise three sites could use all up. */
const SMALL_SITE_BYTES = 2 * MIB;

export type LargeResponses = ReturnType<typeof createLargeResponses>;

/**
 * Limits the large responses of services that all running operations hold together. Nothing waits here: an operation that
 * waited for room would keep the memory that it has, and its connection to a service.
 */
export function createLargeResponses() {
  const bySite = new Map<string, number>();
  let allBytes = 0;

  return {
    /** Runs an operation. The bytes that it passes to `reserveLarge` count until it is over. */
    async run<Result>(
      { ip }: Pick<RequestCall, 'ip'>,
      work: (reserveLarge: NonNullable<OperationRun['reserveLarge']>) => Promise<Result>,
    ): Promise<Result> {
      const site = siteOf(networkOf(ip));
      let ownBytes = 0;
      const add = (bytes: number) => {
        ownBytes += bytes;
        allBytes += bytes;
        count(bySite, site, bytes);
      };
      const reserveLarge = (bytes: number, isMade = false) => {
        const ofSite = (bySite.get(site) ?? 0) + bytes;
        const most = ofSite > SMALL_SITE_BYTES ? MAX_BYTES : 2 * MAX_BYTES;
        if (!isMade && (ofSite > MAX_BYTES_OF_SITE || allBytes + bytes > most))
          throw unavailable('Too many large results are being made right now; try again, or request less.');
        add(bytes);
      };
      try {
        return await work(reserveLarge);
      } finally {
        if (ownBytes > 0) add(-ownBytes);
      }
    },
  };
}
