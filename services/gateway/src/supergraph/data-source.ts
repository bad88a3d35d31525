import { AppError, isErrorCode, unavailable } from '@taskmesh/contracts';
import type { GraphQLDataSource } from '@apollo/gateway';
import type { Identity } from '@taskmesh/identity';
import type { EndedSession } from '@taskmesh/internal-api';
import type { Clock, Log } from '@taskmesh/service';
import type { SubgraphRequest, SubgraphResult } from '@taskmesh/subgraph';
import type { Connections, RequestOptions } from '../connections/connections.ts';
import type { GraphSource, GraphSources, OperationRun, RequestCall } from './operation.ts';
import type { GraphMetrics } from './executor.ts';
import type { Supergraph } from './supergraph.ts';

type Process = GraphQLDataSource['process'];

export interface DataSourceDeps {
  connections: Connections;
  metrics: Pick<GraphMetrics, 'requests'>;
  clock: Clock;
  log: Log;
}

/** Tells the mutation itself from fetches that only read for its result. */
const CHANGES = /^\s*mutation\b/;

/** Time limits for mutations of our services that may exceed an operation's: backup moves whole databases. */
const LONG_CHANGES_MS: Readonly<Record<string, number>> = { backup: 3_600_000 };

/** One data source for each service of the graph. */
export function createServiceMap(supergraph: Supergraph, deps: DataSourceDeps): GraphSources {
  return Object.fromEntries(
    supergraph.services.map(({ name, url, own }) => [name, createDataSource(name, own ? undefined : url, deps)]),
  );
}

/** `url` is set only for services that are not ours: they do not learn the caller's identity, and cannot change it. */
function createDataSource(
  name: string,
  url: string | undefined,
  { connections, metrics, clock, log }: DataSourceDeps,
): GraphSource {
  const observe = metrics.requests(name);
  const isOurs = url === undefined;
  const longChangeMs = isOurs ? LONG_CHANGES_MS[name] : undefined;
  const isChange = ({ query }: SubgraphRequest, run: OperationRun) => run.mutation && CHANGES.test(query);

  const ask: GraphSource['ask'] = async (request, run) => {
    const { call, signal } = run;
    if (longChangeMs !== undefined && call.limitMs === undefined && isChange(request, run))
      run.deadline = clock.now() + longChangeMs;
    const options: RequestOptions = {
      call: {
        identity: isOurs ? identityFor(name, call) : { role: 'anonymous' },
        requestId: call.requestId,
        ...(call.traceparent && { traceparent: call.traceparent }),
      },
      timeoutMs: Math.max(1, run.deadline - clock.now()),
      idempotent: !run.mutation,
      ...(signal && { signal }),
      // What has been changed is answered in any case: the client would change it again.
      onLarge: isChange(request, run) ? undefined : run.takeLarge,
    };
    const begunMs = performance.now();
    try {
      const result = await connections.request(name, url, request, options);
      const { data = null, errors, extensions } = result;
      if (isOurs && isUnknownThere(result)) throw unavailable(undefined, new Error(errors?.[0]?.message));
      if (isOurs && name === 'auth' && extensions) takeSessionNews(extensions, call);
      return { data, ...(errors && { errors }) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // What was refused here, as large answers are, has no cause.
      if (error.cause && !signal?.aborted) log.warn({ err: error.cause, service: name }, 'a service did not answer');
      return { data: null, errors: [{ message: error.message, extensions: { code: error.code } }] };
    } finally {
      observe((performance.now() - begunMs) / 1_000);
    }
  };

  return {
    ask,
    async process({ request, context }: Parameters<Process>[0]) {
      const { query = '', variables, operationName } = request;
      const asked = { query, variables: variables ?? null, operationName: operationName ?? null };
      const run = context as OperationRun; // its executor gives nothing else
      if (!isChange(asked, run)) return ask(asked, run);
      // Its executor goes on behind a mutation that failed.
      if (run.hasFailed) return { data: null };
      const result = await ask(asked, run);
      run.hasFailed = result.data === null;
      return result;
    },
  };
}

/**
 * Whether a service of ours did not even begin, and for no reason that a client could know: it is of another version,
 * whose part of the graph lacks what we ask for. A rolling update passes.
 */
const isUnknownThere = ({ data, errors }: SubgraphResult): boolean =>
  data === undefined &&
  errors !== undefined &&
  !errors.some(({ message, extensions }) => isErrorCode(extensions?.code) || WAS_OMITTED.test(message));

/** graphql-js's message for a variable that the request lacks: no version needs that, so it is a defect of ours. */
const WAS_OMITTED = /^Variable "\$\w+" of (?:required|non-null) type /;

/** Only auth receives the client's address and user agent: it limits by address, and lists both with sessions. */
function identityFor(service: string, { identity, ip, client }: RequestCall): Identity {
  if (service !== 'auth' || identity.role === 'service') return identity;
  return { ...identity, ip, ...(client !== undefined && { client }) };
}

/** auth reports as whom the operation continues, and which sessions it ended. */
function takeSessionNews(extensions: NonNullable<SubgraphResult['extensions']>, call: RequestCall): void {
  const { session, endedSessions } = extensions as {
    session?: { userId: string; sessionId: string };
    endedSessions?: EndedSession[];
  };
  if (session) call.identity = { role: 'user', userId: session.userId, sessionId: session.sessionId };
  if (endedSessions && endedSessions.length > 0) call.onEndedSessions(endedSessions);
}
