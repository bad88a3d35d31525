import { setImmediate as nextTurn } from 'node:timers/promises';
import { documentKey } from './document-cache.ts';
import { InvalidOperation, type GraphExecutor, type PreparedOperation } from './operation.ts';
import type { LiveGraph } from './live-graph.ts';

/**
 * Runs operations on the graph that is currently served. Long-lived operations (REST's) move along: they are prepared
 * and planned on a new graph before it takes over.
 */
export function createCurrentExecutor(graph: LiveGraph): GraphExecutor {
  const kept = new Map<string, PreparedOperation>();

  const onCurrent = (operation: PreparedOperation): PreparedOperation => {
    const { executor } = graph.current;
    return operation.schema === executor.schema
      ? operation
      : executor.prepare(operation.source, operation.operationName);
  };

  const find = (operation: PreparedOperation) => {
    try {
      return onCurrent(operation);
    } catch (error) {
      if (!(error instanceof InvalidOperation)) throw error;
      return { errors: [gone()] };
    }
  };

  graph.beforeSwitch(async ({ executor }) => {
    for (const { source, operationName } of kept.values()) {
      await nextTurn(); // serve requests in between
      try {
        executor.warm(executor.prepare(source, operationName));
      } catch (error) {
        // Operations that the new graph does not support are refused when they are called.
        if (!(error instanceof InvalidOperation)) throw error;
      }
    }
    return () => {};
  });

  return {
    get schema() {
      return graph.current.executor.schema;
    },
    prepare: (source, operationName) => graph.current.executor.prepare(source, operationName),
    warm(operation) {
      kept.set(documentKey(operation.source, operation.operationName), operation);
      graph.current.executor.warm(onCurrent(operation));
    },
    async run(operation, variables, call) {
      const found = find(operation);
      if ('errors' in found) return { data: null, ...found };
      return graph.current.executor.run(found, variables, call);
    },
  };
}

function gone() {
  return {
    message: 'The graph cannot do this any more.',
    extensions: { code: 'OPERATION_RESOLUTION_FAILURE' },
  };
}
