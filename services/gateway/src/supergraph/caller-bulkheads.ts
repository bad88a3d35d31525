import { rateLimited, toGraphQLError } from '@taskmesh/contracts';
import { createBulkhead, networkOf } from '@taskmesh/service';
import type { RequestCall } from './executor.ts';

/**
 * How many operations of a caller run at once. One session leaves room for the others of its account, with which it can be
 * ended. Many people, or a server of theirs, may share an address.
 */
const CONCURRENCY = { session: 16, account: 48, network: 256 };
const QUEUE = {
  maxWaiting: 1_000,
  maxWaitMs: 5_000,
  refusal: () => toGraphQLError(rateLimited(1, 'Your earlier requests are still running; try again.')),
};

/** Runs an operation of this caller, or rejects with RATE_LIMITED. A caller who disconnects no longer waits. */
export type RunForCaller = <Result>(
  caller: Pick<RequestCall, 'identity' | 'ip' | 'signal'>,
  run: () => Promise<Result>,
) => Promise<Result>;

/** Bounds the operations that one session and one account run at once: the others keep their latency while theirs are slow. */
export function createCallerBulkheads(): RunForCaller {
  const sessions = createBulkhead({ concurrency: CONCURRENCY.session, ...QUEUE });
  const accounts = createBulkhead({ concurrency: CONCURRENCY.account, ...QUEUE });
  const networks = createBulkhead({ concurrency: CONCURRENCY.network, ...QUEUE });
  return ({ identity, ip, signal }, run) => {
    if (identity.role === 'user') {
      const { sessionId, userId } = identity;
      return sessions.run(sessionId, () => accounts.run(userId, run, signal), signal);
    }
    return identity.role === 'anonymous' ? networks.run(networkOf(ip), run, signal) : run();
  };
}
