import { rateLimited, toGraphQLError } from '@taskmesh/errors';
import { createBulkhead, networkOf } from '@taskmesh/service';
import type { RequestCall } from './executor.ts';

/** How many operations of a caller run at once. Many people, or a server of theirs, may share an address. */
const CONCURRENCY = { account: 16, network: 256 };
const QUEUE = {
  maxWaiting: 200,
  maxWaitMs: 5_000,
  refusal: () => toGraphQLError(rateLimited(1, 'Your earlier requests are still running; try again.')),
};

/** Runs an operation of this caller, or rejects with RATE_LIMITED. */
export type RunForCaller = <Result>(
  caller: Pick<RequestCall, 'identity' | 'ip'>,
  run: () => Promise<Result>,
) => Promise<Result>;

/** Bounds the operations that one account runs at once, so that the others keep their latency while its own are slow. */
export function createCallerBulkheads(): RunForCaller {
  const accounts = createBulkhead({ concurrency: CONCURRENCY.account, ...QUEUE });
  const networks = createBulkhead({ concurrency: CONCURRENCY.network, ...QUEUE });
  return ({ identity, ip }, run) => {
    if (identity.role === 'user') return accounts.run(identity.userId, run);
    return identity.role === 'anonymous' ? networks.run(networkOf(ip), run) : run();
  };
}
