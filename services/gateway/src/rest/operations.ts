import { InvalidOperation } from '@taskmesh/federation';
import type { GraphQLFormattedError } from 'graphql';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LiveGraph } from '../supergraph/live-graph.ts';
import type { OperationResult, RequestCall } from '../supergraph/operation.ts';
import type { StoredOperation } from './endpoint.ts';
import * as OPERATIONS from './operations.generated.ts';

export { OPERATIONS };
export type * from './operations.generated.ts';

const ALL = Object.values<StoredOperation<unknown, never>>(OPERATIONS);

/** Requests to an unresponsive bucket fail after 15 seconds; waiting for that gives clients the reason. */
const ARCHIVES_TIMEOUT_MS = 20_000;
/** Time limits of the operations that may take longer than clients' own operations. */
const LIMITS_MS = new Map<string, number>([
  ...[OPERATIONS.backups, OPERATIONS.backup, OPERATIONS.deleteBackup].map(
    (each) => [each, ARCHIVES_TIMEOUT_MS] as const,
  ),
  [OPERATIONS.newEpoch, 10 * 60_000], // restores that were interrupted are settled first
]);

/** Runs fixed operations on the graph that is served. */
export type StoredOperations = ReturnType<typeof createStoredOperations>;

/** Operations are prepared when the gateway starts, and on each new graph before it takes over. */
export function createStoredOperations(graph: LiveGraph) {
  const prepareOn = ({ executor }: LiveGraph['current'], operation: string) => {
    try {
      return executor.prepare(operation);
    } catch (error) {
      if (!(error instanceof InvalidOperation)) throw error;
      return undefined;
    }
  };
  const supported = new Set<string>(ALL.filter((each) => prepareOn(graph.current, each)));
  graph.beforeSwitch(async (next) => {
    for (const operation of supported) {
      await nextTurn(); // serve requests in between
      prepareOn(next, operation);
    }
    return () => {};
  });
  return {
    /** Whether the graph with which the gateway started supports it. */
    has: (operation: string) => supported.has(operation),
    async run(operation: string, variables: Record<string, unknown>, call: RequestCall): Promise<OperationResult> {
      const prepared = prepareOn(graph.current, operation);
      if (!prepared) return { data: null, errors: [UNSUPPORTED] };
      const limitMs = LIMITS_MS.get(operation);
      const admitted = { operation: prepared, variables, cost: prepared.cost(variables) };
      return graph.run(admitted, limitMs === undefined ? call : { ...call, limitMs });
    },
  };
}

/** The error of an operation that the graph no longer supports. */
const UNSUPPORTED: GraphQLFormattedError = {
  message: 'The graph no longer supports this.',
  extensions: { code: 'OPERATION_RESOLUTION_FAILURE' },
};
