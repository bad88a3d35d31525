import { AppError } from '@taskmesh/errors';
import type { GraphQLDataSource, ServiceMap } from '@apollo/gateway';
import type { Identity } from '@taskmesh/identity';
import type { EndedSession } from '@taskmesh/internal-api';
import type { Clock, Log } from '@taskmesh/service';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { inSpan, type Span } from '@taskmesh/telemetry';
import type { Connections, RequestOptions } from '../connections.ts';
import type { RequestCall } from './executor.ts';
import type { GraphMetrics } from './metrics.ts';
import type { Supergraph } from './supergraph.ts';

type Process = GraphQLDataSource['process'];

/** What travels through the planner's executor as the context of one operation. */
export interface OperationRun {
  call: RequestCall;
  /** Unix milliseconds; what is not answered by then is given up. */
  deadline: number;
  mutation: boolean;
  /** A change that has to be there failed: the result is null, and no later one may run. */
  hasFailed?: boolean;
  /** Of the one client whom it is for: what several wait for, such as an event, has none. */
  signal?: AbortSignal | undefined;
}

export interface DataSourceDeps {
  connections: Connections;
  metrics: Pick<GraphMetrics, 'requests'>;
  clock: Clock;
  log: Log;
}

/** The fetch is a part of the mutation itself, and not of what is read behind it. */
const CHANGES = /^\s*mutation\b/;

/** How long a change of a service of ours may take, where that is longer than an operation may: backup moves whole databases. */
const LONG_CHANGES_MS: Readonly<Record<string, number>> = { backup: 3_600_000 };

/** auth hashes passwords: it gives way while other services were asked for something so lately. */
const BUSY_MS = 100;

/** When a service other than auth was asked, or answered. Unix milliseconds. */
interface OtherTraffic {
  lastAt: number;
}

/** One data source for each service of the graph. */
export function createServiceMap(supergraph: Supergraph, deps: DataSourceDeps): ServiceMap {
  const others: OtherTraffic = { lastAt: 0 };
  return Object.fromEntries(
    supergraph.services.map(({ name, url, own }) => [
      name,
      createDataSource(name, own ? undefined : url, others, deps),
    ]),
  );
}

/** `url` only for a service that is none of ours: it gets no identity, and may not speak for one. */
function createDataSource(
  name: string,
  url: string | undefined,
  others: OtherTraffic,
  { connections, metrics, clock, log }: DataSourceDeps,
): GraphQLDataSource {
  const observe = metrics.requests(name);
  const isAuth = name === 'auth' && url === undefined;
  const longChangeMs = url === undefined ? LONG_CHANGES_MS[name] : undefined;
  const ask = async ({ request, context }: Parameters<Process>[0], span: Span | undefined) => {
    const run = context as OperationRun; // the executor below gives nothing else
    const { call } = run;
    const traceparent = span?.traceparent ?? call.traceparent;
    const options: RequestOptions = {
      call: {
        identity: url === undefined ? identityFor(name, call) : { role: 'anonymous' },
        requestId: call.requestId,
        ...(traceparent && { traceparent }),
        ...(isAuth && clock.now() - others.lastAt < BUSY_MS && { isBackground: true }),
      },
      timeoutMs: Math.max(1, run.deadline - clock.now()),
      idempotent: !run.mutation,
      ...(run.signal && { signal: run.signal }),
    };
    const { query = '', variables, operationName } = request;
    const result = await connections.request(
      name,
      url,
      { query, variables: variables ?? null, operationName: operationName ?? null },
      options,
    );
    if (isAuth && result.extensions) takeSessionNews(result.extensions, call);
    return { data: result.data ?? null, ...(result.errors && { errors: result.errors }) };
  };
  const describe = () =>
    ({ name: `fetch ${name}`, kind: 'client', attributes: { 'service.peer.name': name } }) as const;

  const answer = async (options: Parameters<Process>[0]) => {
    const begunMs = performance.now();
    if (!isAuth) others.lastAt = clock.now();
    try {
      return await inSpan(describe, (span) => ask(options, span));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { signal } = options.context as OperationRun; // as above
      if (!signal?.aborted) log.warn({ err: error.cause ?? error, service: name }, 'a service did not answer');
      return { data: null, errors: [{ message: error.message, extensions: { code: error.code } }] };
    } finally {
      if (!isAuth) others.lastAt = clock.now();
      observe((performance.now() - begunMs) / 1_000);
    }
  };

  const change = async (options: Parameters<Process>[0]) => {
    const run = options.context as OperationRun; // as above
    if (run.hasFailed) return { data: null };
    if (longChangeMs !== undefined) run.deadline = clock.now() + longChangeMs;
    const result = await answer(options);
    run.hasFailed = result.data === null;
    return result;
  };

  return {
    process(options) {
      const { mutation } = options.context as OperationRun; // as above
      return mutation && CHANGES.test(options.request.query ?? '') ? change(options) : answer(options);
    },
  };
}

/** Only auth is told the client's address and program: its limits count by the one, and its list of sessions shows both. */
function identityFor(service: string, { identity, ip, client }: RequestCall): Identity {
  if (service !== 'auth' || identity.role === 'service') return identity;
  return { ...identity, ip, ...(client !== undefined && { client }) };
}

/** auth says here whom the operation continues as, and whose sessions it ended. */
function takeSessionNews(extensions: NonNullable<SubgraphResult['extensions']>, call: RequestCall): void {
  const { session, endedSessions } = extensions as {
    session?: { userId: string; sessionId: string };
    endedSessions?: EndedSession[];
  };
  if (session) call.identity = { role: 'user', userId: session.userId, sessionId: session.sessionId };
  if (endedSessions && endedSessions.length > 0) call.onEndedSessions(endedSessions);
}
