import { type Clock, type Log, inSpan } from '@taskmesh/service';
import { operationSpan } from '@taskmesh/internal-api';
import {
  getOperationAST,
  GraphQLError,
  parse,
  validate,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { ExecutorKind } from '../config.ts';
import type { RunForCaller } from './caller-bulkheads.ts';
import { createResultFormat } from './client-result.ts';
import { createApolloEngine } from './apollo-engine.ts';
import { createCompiledEngine } from './compiled-engine.ts';
import { documentKey } from './document-cache.ts';
import type { GraphSources, OperationRun } from './sources.ts';
import type { Engine, EngineResult, RunOperation } from './engine.ts';
import {
  createParts,
  InvalidOperation,
  type GraphExecutor,
  type PreparedOperation,
  type RequestCall,
} from './executor.ts';
import type { GraphMetrics } from './metrics.ts';
import type { Supergraph } from './supergraph.ts';

/** For a whole operation with all its fetches. */
const OPERATION_DEADLINE_MS = 10_000;
export interface ExecutorDeps {
  supergraph: Supergraph;
  services: GraphSources;
  metrics: Pick<GraphMetrics, 'operation'>;
  clock: Clock;
  log: Log;
  kind: ExecutorKind;
  runForCaller: RunForCaller;
}

const ENGINES: Record<ExecutorKind, (supergraph: Supergraph, services: GraphSources, log: Log) => Engine> = {
  compiled: createCompiledEngine,
  apollo: createApolloEngine,
};

export function createExecutor(deps: ExecutorDeps): GraphExecutor {
  const { supergraph, services, metrics, clock, log, kind, runForCaller } = deps;
  const { schema } = supergraph;
  const engine = ENGINES[kind](supergraph, services, log);
  const formatResult = createResultFormat(log);
  /** Stored documents only: as many as there are in our code. */
  const prepared = new Map<string, PreparedOperation>();
  /** REST's operations. The span of a request names its route, and with that the operation. */
  const stored = new WeakSet<PreparedOperation>();

  const planOf = (operation: PreparedOperation): RunOperation =>
    operation.partOf('plan', (resized) => engine(operation, resized));

  const runOf = (operation: PreparedOperation, call: RequestCall): OperationRun => ({
    call,
    deadline: clock.now() + (call.limitMs ?? OPERATION_DEADLINE_MS),
    mutation: operation.operation.operation === 'mutation',
    signal: call.signal,
  });

  const run: GraphExecutor['run'] = async (operation, variables, call) => {
    const begunMs = performance.now();
    const runInTurn = () => runForCaller(call, async () => planOf(operation)(variables, runOf(operation, call)));
    let result: EngineResult;
    try {
      result = await (stored.has(operation)
        ? runInTurn()
        : inSpan(() => operationSpan(operation.operation), runInTurn));
    } catch (error) {
      result = { data: null, errors: [error] };
    }
    const told = formatResult(result, call.requestId);
    metrics.operation(operation, (performance.now() - begunMs) / 1_000, told);
    return told;
  };

  return {
    schema,

    prepare(source, operationName) {
      const key = documentKey(source, operationName);
      const known = prepared.get(key);
      if (known) return known;
      const document = parseDocument(source);
      const errors = validate(schema, document);
      if (errors.length > 0) throw new InvalidOperation('GRAPHQL_VALIDATION_FAILED', errors);
      const operation = findOperation(schema, document, operationName);
      const fresh: PreparedOperation = {
        source,
        schema,
        document,
        operation,
        operationName: operation.name?.value,
        partOf: createParts(),
      };
      prepared.set(key, fresh);
      return fresh;
    },

    warm(operation) {
      stored.add(operation);
      planOf(operation);
    },

    run,
  };
}

function parseDocument(source: string): DocumentNode {
  try {
    return parse(source);
  } catch (error) {
    throw new InvalidOperation('GRAPHQL_PARSE_FAILED', [
      error instanceof GraphQLError ? error : new GraphQLError('Syntax Error.'),
    ]);
  }
}

function findOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
): OperationDefinitionNode {
  const operation = getOperationAST(document, operationName);
  if (!operation) throw unresolved('There is no such operation in the document.');
  // Validation does not notice an operation type that the schema lacks.
  if (!schema.getRootType(operation.operation)) throw unresolved(`There is no ${operation.operation} in this graph.`);
  return operation;
}

function unresolved(message: string): InvalidOperation {
  return new InvalidOperation('OPERATION_RESOLUTION_FAILURE', [new GraphQLError(message)]);
}
