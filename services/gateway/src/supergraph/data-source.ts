import { AppError, isErrorCode, unavailable } from '@taskmesh/contracts';
import type { GraphQLDataSource } from '@apollo/gateway';
import type { Identity } from '@taskmesh/identity';
import type { EndedSession } from '@taskmesh/internal-api';
import { type Clock, type Log, networkOf } from '@taskmesh/service';
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

/** Tasks and the gateway need tens of milliseconds for a page of 100 tasks; many pages must leave time for others. */
const COST_PER_CONNECTION = 60;
const MAX_WEIGHT = 8;

/** Distinguishes the mutation itself from fetches that only read for its result. */
const MUTATION = /^\s*mutation\b/;

/** Time limits for operators' mutations of our services that may exceed an operation's: backup moves whole databases. */
const LONG_MUTATIONS_MS: Readonly<Record<string, number>> = { backup: 3_600_000 };

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
  const longMutationMs = isOurs ? LONG_MUTATIONS_MS[name] : undefined;
  const isMutation = ({ query }: SubgraphRequest, run: OperationRun) => run.mutation && MUTATION.test(query);

  const execute: GraphSource['execute'] = async (request, run) => {
    const { call, signal } = run;
    const mayTakeLong = call.identity.role === 'operator' && call.limitMs === undefined && isMutation(request, run);
    if (longMutationMs !== undefined && mayTakeLong) run.deadline = clock.now() + longMutationMs;
    const options: RequestOptions = {
      call: {
        identity: isOurs ? identityFor(name, call) : { role: 'anonymous' },
        requestId: call.requestId,
        ...(call.traceparent && { traceparent: call.traceparent }),
      },
      network: networkOf(call.ip),
      // Mutations are few, and an end of a session must not wait for its account's other requests.
      ...(call.identity.role === 'user' && !isMutation(request, run) && { account: call.identity.userId }),
      weight: Math.min(1 + Math.floor((run.cost ?? 0) / COST_PER_CONNECTION), MAX_WEIGHT),
      timeoutMs: Math.max(1, run.deadline - clock.now()),
      idempotent: !run.mutation,
      ...(signal && { signal }),
      // The result of a mutation is always returned: without it, the client would repeat the mutation.
      onLarge: (bytes) => run.reserveLarge?.(bytes, isMutation(request, run)),
    };
    const startMs = performance.now();
    try {
      if (run.deadline <= clock.now()) throw unavailable(); // a mutation would run although its caller no longer waits
      if (isMutation(request, run)) run.requireRoom?.();
      const result = await connections.request(name, url, request, options);
      const { data = null, errors, extensions } = result;
      if (isOurs && isUnknownThere(result)) throw unavailable(undefined, new Error(errors?.[0]?.message));
      if (isOurs && name === 'auth' && extensions) applySessionChanges(extensions, call);
      return { data, ...(errors && { errors }) };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // Errors from this gateway, such as a refused large response, have no cause.
      if (error.cause && !signal?.aborted) log.warn({ err: error.cause, service: name }, 'a service did not respond');
      return { data: null, errors: [{ message: error.message, extensions: { code: error.code } }] };
    } finally {
      observe((performance.now() - startMs) / 1_000);
    }
  };

  return {
    execute,
    async process({ request, context }: Parameters<Process>[0]) {
      const { query = '', variables, operationName } = request;
      const subgraphRequest = { query, variables: variables ?? null, operationName: operationName ?? null };
      const run = context as OperationRun; // the executor passes nothing else
      if (!isMutation(subgraphRequest, run)) return execute(subgraphRequest, run);
      // @apollo/gateway's executor would continue after a failed mutation.
      if (run.hasFailed) return { data: null };
      const result = await execute(subgraphRequest, run);
      run.hasFailed = result.data === null;
      return result;
    },
  };
}

/**
 * Whether one of our services rejected the request itself, without an error for clients: it runs another version, whose
 * part of the graph lacks what was requested. That is temporary, as during a rolling update.
 */
const isUnknownThere = ({ data, errors }: SubgraphResult): boolean =>
  data === undefined &&
  errors !== undefined &&
  !errors.some(({ message, extensions }) => isErrorCode(extensions?.code) || WAS_OMITTED.test(message));

/** graphql-js's message for a variable that the request lacks. No other version explains that, so it is our own defect. */
const WAS_OMITTED = /^Variable "\$\w+" of (?:required|non-null) type /;

/** Auth and tasks receive the client's address, for their limits; only auth, which lists it with sessions, the user agent. */
function identityFor(service: string, { identity, ip, client }: RequestCall): Identity {
  if (identity.role === 'service' || (service !== 'auth' && service !== 'tasks')) return identity;
  return { ...identity, ip, ...(service === 'auth' && client !== undefined && { client }) };
}

/** auth reports the user as whom the operation continues, and the sessions that it ended. */
function applySessionChanges(extensions: NonNullable<SubgraphResult['extensions']>, call: RequestCall): void {
  const { session, endedSessions } = extensions as {
    session?: { userId: string; sessionId: string };
    endedSessions?: EndedSession[];
  };
  if (session) call.identity = { role: 'user', userId: session.userId, sessionId: session.sessionId };
  if (endedSessions && endedSessions.length > 0) call.onEndedSessions(endedSessions);
}
