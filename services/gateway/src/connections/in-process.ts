import { unavailable } from '@taskmesh/contracts';
import {
  runWithTimeout,
  authInternal,
  authOperators,
  authSignIn,
  backupOperators,
  callInProcess,
  deadLettersInternal,
  tasksInternal,
  tasksOperators,
  type Subgraph,
} from '@taskmesh/internal-api';
import { asJson } from '@taskmesh/service';
import type { SubgraphRequest, SubgraphResult } from '@taskmesh/subgraph';
import { REQUEST_TIMEOUT_MS, type Connections, type RequestOptions } from './connections.ts';
import { createExternalSubgraphClient, inFetchSpanIfFailed } from './requests.ts';

interface InGraph {
  subgraph: Subgraph;
}

type Status = Connections['status'];

/** The services of this process; their creator stops them. */
export interface InProcessServices {
  auth: InGraph & { internal: Connections['auth']; signIn: Connections['signIn']; operators: Status['auth'] };
  tasks: InGraph & {
    internal: Connections['tasks'];
    deadLetters: Connections['deadLetters'];
    operators: Status['tasks'];
  };
  backup: InGraph & { work: Connections['backup']; operators: Status['backup'] };
}

/**
 * Direct calls that behave as over HTTP: the same deadlines, and values as JSON would carry them. Only `data` is passed
 * on unchanged, because `execute` builds it from JSON values for each call.
 */
export function connectInProcess(services: InProcessServices): Connections {
  const subgraphs = new Map(Object.values<InGraph>({ ...services }).map(({ subgraph }) => [subgraph.name, subgraph]));
  const outside = createExternalSubgraphClient();

  const named = (service: string): Subgraph => {
    const subgraph = subgraphs.get(service);
    if (!subgraph) throw unavailable(undefined, new Error(`There is no service "${service}" in this process.`));
    return subgraph;
  };

  const execute = async (
    service: string,
    { query, operationName, variables }: SubgraphRequest,
    { call, idempotent, signal, timeoutMs = REQUEST_TIMEOUT_MS }: RequestOptions,
  ): Promise<SubgraphResult> => {
    const subgraph = named(service);
    if (signal?.aborted) throw unavailable(undefined, new Error('The caller has disconnected.'));
    const request = { query, operationName, variables: variables && asJson(variables) };
    // A mutation counts as sent as soon as it is called.
    const waiting = { timeoutMs, signal: idempotent ? signal : undefined };
    const { errors, extensions, ...result } = await runWithTimeout(waiting, (isOver) =>
      subgraph.execute(request, { ...call, identity: { ...call.identity }, isCancelled: isOver }),
    );
    return {
      ...result,
      ...(errors && { errors: asJson(errors) }),
      ...(extensions && { extensions: asJson(extensions) }),
    };
  };

  return {
    request: (service, url, request, options) =>
      url === undefined
        ? inFetchSpanIfFailed(service, () => execute(service, request, options))
        : outside.request(service, url, request, options),
    auth: callInProcess(authInternal, services.auth.internal),
    signIn: callInProcess(authSignIn, services.auth.signIn),
    tasks: callInProcess(tasksInternal, services.tasks.internal),
    backup: services.backup.work,
    deadLetters: callInProcess(deadLettersInternal, services.tasks.deadLetters),
    status: {
      auth: callInProcess(authOperators, services.auth.operators),
      tasks: callInProcess(tasksOperators, services.tasks.operators),
      backup: callInProcess(backupOperators, services.backup.operators),
    },
    aheadSeconds: () => 0,
    async probe(service, url) {
      if (url !== undefined) return outside.probe(url);
      const call = { identity: { role: 'service', name: 'gateway' } as const, requestId: 'probe' };
      await execute(service, { query: '{ __typename }' }, { call, idempotent: true });
    },
    close: () => outside.close(),
  };
}
