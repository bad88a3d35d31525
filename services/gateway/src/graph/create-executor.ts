import { operationFromDocument } from '@apollo/federation-internals';
import { buildOperationContext, executeQueryPlan, type GraphQLDataSource, type ServiceMap } from '@apollo/gateway';
import type { FetchNode, QueryPlan } from '@apollo/query-planner';
import type { Clock, Log } from '@taskmesh/service';
import { operationSpan } from '@taskmesh/subgraph';
import { inSpan } from '@taskmesh/telemetry';
import {
  getOperationAST,
  GraphQLError,
  parse,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { createErrorFormat, internalError } from './client-errors.ts';
import type { OperationRun } from './data-source.ts';
import {
  InvalidOperation,
  type GraphExecutor,
  type OperationResult,
  type PreparedOperation,
  type RequestCall,
} from './executor.ts';
import { passThrough } from './pass-through.ts';
import type { GraphMetrics } from './metrics.ts';
import type { Supergraph } from './supergraph.ts';

/** Stored documents come here, and seldom a client's: their texts together. */
const DOCUMENT_BUDGET_CHARS = 256 * 1024;
/** One operation, all its fetches together. */
const OPERATION_DEADLINE_MS = 10_000;
/** What moves whole databases takes as long as they are large. */
const LONG_FIELDS = new Set([
  'restoreBackup',
  'dryRunRestore',
  'undoRestore',
  'createBackup',
  'verifyBackup',
  'scanBackups',
  'newEpoch',
]);
const LONG_DEADLINE_MS = 3_600_000;

export interface ExecutorDeps {
  supergraph: Supergraph;
  services: ServiceMap;
  metrics: Pick<GraphMetrics, 'operation'>;
  clock: Clock;
  log: Log;
}

type OperationContext = ReturnType<typeof buildOperationContext>;

interface Planned {
  context: OperationContext;
  plan: QueryPlan;
  /** When this is all there is to do. */
  only: FetchNode | undefined;
  deadlineMs: number;
}

export function createExecutor({ supergraph, services, metrics, clock, log }: ExecutorDeps): GraphExecutor {
  const { schema, apiSchema, supergraphSchema, planner } = supergraph;
  const formatErrors = createErrorFormat(log);
  const prepared = new LRUCache<string, PreparedOperation>({
    maxSize: DOCUMENT_BUDGET_CHARS,
    sizeCalculation: ({ source }) => source.length,
  });
  const planned = new WeakMap<PreparedOperation, Planned>();
  /** Operations of our own, whose names are ours as well. */
  const stored = new WeakSet<PreparedOperation>();
  const ours = new Set(supergraph.services.filter(({ own }) => own).map(({ name }) => name));
  const isAllOurs = ours.size === supergraph.services.length;
  const ofOurs = (fetch: FetchNode | undefined) => (fetch && ours.has(fetch.serviceName) ? fetch : undefined);

  const planOf = (operation: PreparedOperation): Planned => {
    const known = planned.get(operation);
    if (known) return known;
    const { document, operationName } = operation;
    const plan = planner.buildQueryPlan(
      operationFromDocument(apiSchema, document, { ...(operationName && { operationName }) }),
    );
    const fresh: Planned = {
      context: buildOperationContext({ schema, operationDocument: document, ...(operationName && { operationName }) }),
      plan,
      only: ofOurs(passThrough(plan, operation)),
      deadlineMs: isLong(operation) ? LONG_DEADLINE_MS : OPERATION_DEADLINE_MS,
    };
    planned.set(operation, fresh);
    return fresh;
  };

  const execute = async (operation: PreparedOperation, variables: Record<string, unknown>, call: RequestCall) => {
    const { context, plan, only, deadlineMs } = planOf(operation);
    const run: OperationRun = {
      call,
      deadline: clock.now() + deadlineMs,
      mutation: operation.operation.operation === 'mutation',
      signal: call.signal,
    };
    if (only) return fetchOnly(only, services, variables, run);
    // The executor reads these of a request's context, and nothing of the rest of the type.
    const request = { request: { variables }, context: run, metrics: {}, logger: log } as unknown as Parameters<
      typeof executeQueryPlan
    >[2];
    return executeQueryPlan(plan, services, request, context, supergraphSchema, apiSchema);
  };

  const toClient = (
    { data = null, errors, extensions }: ExecutionResult,
    { requestId }: RequestCall,
  ): OperationResult => {
    if (errors && errors.length > 0) return { data, errors: formatErrors(errors, requestId) };
    if (!isAllOurs || !extensions?.['valueCompletion']) return { data };
    // A service of ours left out what its schema promises.
    log.error({ valueCompletion: extensions['valueCompletion'], requestId }, 'a result is incomplete');
    return { data, errors: [internalError(requestId)] };
  };

  return {
    schema,

    prepare(source, operationName) {
      const key = operationName === undefined ? source : `${operationName}\n${source}`;
      const known = prepared.get(key);
      if (known) return known;
      const document = parsed(source);
      const errors = validate(schema, document);
      if (errors.length > 0) throw new InvalidOperation('GRAPHQL_VALIDATION_FAILED', errors);
      const operation = resolved(schema, document, operationName);
      const fresh = { source, schema, document, operation, operationName: operation.name?.value };
      prepared.set(key, fresh);
      return fresh;
    },

    warm(operation) {
      stored.add(operation);
      planOf(operation);
    },

    async run(operation, variables, call) {
      const begunMs = performance.now();
      let result: OperationResult;
      try {
        const executed = await inSpan(
          () => operationSpan(operation.operation, stored.has(operation) ? operation.operationName : undefined),
          () => execute(operation, variables, call),
        );
        result = toClient(executed, call);
      } catch (error) {
        result = { data: null, errors: formatErrors([error], call.requestId) };
      }
      metrics.operation(operation, (performance.now() - begunMs) / 1_000, result);
      return result;
    },
  };
}

function isLong({ operation }: PreparedOperation): boolean {
  return operation.selectionSet.selections.some(
    (selection) => selection.kind === 'Field' && LONG_FIELDS.has(selection.name.value),
  );
}

/** The service's answer is the client's, errors and all. */
async function fetchOnly(
  { serviceName, operation: query, operationName, variableUsages = [] }: FetchNode,
  services: ServiceMap,
  variables: Record<string, unknown>,
  run: OperationRun,
): Promise<ExecutionResult> {
  const used = Object.fromEntries(
    variableUsages.filter((name) => Object.hasOwn(variables, name)).map((name) => [name, variables[name]]),
  );
  const options = { request: { query, variables: used, operationName }, context: run } as unknown;
  const result = await services[serviceName]?.process(options as Parameters<GraphQLDataSource['process']>[0]); // all that ours read
  const errors = result?.errors?.map(
    ({ message, path, extensions }) => new GraphQLError(message, { path, extensions: { ...extensions } }),
  );
  return { data: result?.data as ExecutionResult['data'], ...(errors?.length && { errors }) };
}

function parsed(source: string): DocumentNode {
  try {
    return parse(source);
  } catch (error) {
    throw new InvalidOperation('GRAPHQL_PARSE_FAILED', [
      error instanceof GraphQLError ? error : new GraphQLError('Syntax Error.'),
    ]);
  }
}

function resolved(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
): OperationDefinitionNode {
  const operation = getOperationAST(document, operationName);
  if (!operation) throw unresolved('There is no such operation in the document.');
  // Validation has nothing to say about a kind of operation that the schema lacks.
  if (!schema.getRootType(operation.operation)) throw unresolved(`There is no ${operation.operation} in this graph.`);
  return operation;
}

function unresolved(message: string): InvalidOperation {
  return new InvalidOperation('OPERATION_RESOLUTION_FAILURE', [new GraphQLError(message)]);
}
