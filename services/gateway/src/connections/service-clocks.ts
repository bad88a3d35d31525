import { CLOCK_SKEW_S } from '@taskmesh/identity';
import type { ServicePool } from '@taskmesh/internal-api';
import { createFailureLog, type Clock, type Log } from '@taskmesh/service';

/** The `Date` of a response counts whole seconds. */
const RESOLUTION_MS = 1_000;

export interface ServiceClocks {
  /** Compares the service's clock with this gateway's at each response. */
  watch(service: string, pool: ServicePool): ServicePool;
  /** How far the service's clock is ahead, or behind if negative; 0 within the tolerance. */
  aheadSeconds(service: string): number;
}

/** Logs clocks that differ by more than the tolerance, each at most once a minute: other tokens are refused then. */
export function createServiceClocks({ clock, log }: { clock: Clock; log: Log }): ServiceClocks {
  const differences = new Map<string, number>();

  const watcherOf = (service: string) => {
    const problem = createFailureLog(() =>
      log.warn(
        { peer: service, aheadSeconds: differences.get(service) },
        'the clock of a service is wrong, or this one is',
      ),
    );
    return (aheadSeconds: number) => {
      differences.set(service, aheadSeconds);
      if (aheadSeconds === 0) problem.succeeded();
      else problem.failed(new Error('different'));
    };
  };

  return {
    watch(service, { post, ...pool }) {
      const note = watcherOf(service);
      return {
        ...pool,
        async post(request) {
          const [sentAt, begun] = [clock.now(), performance.now()];
          const answer = await post(request);
          const dateMs = Date.parse(answer.date ?? '');
          if (!Number.isNaN(dateMs)) note(outOfTolerance(dateMs, sentAt, performance.now() - begun));
          return answer;
        },
      };
    },
    aheadSeconds: (service) => differences.get(service) ?? 0,
  };
}

/** The response was made at some time while the gateway waited for it. */
function outOfTolerance(dateMs: number, sentAtMs: number, waitedMs: number): number {
  const aheadMs = Math.max(0, dateMs - (sentAtMs + waitedMs)) || Math.min(0, dateMs + RESOLUTION_MS - sentAtMs);
  return Math.abs(aheadMs) > CLOCK_SKEW_S * 1_000 ? Math.round(aheadMs / 1_000) : 0;
}
