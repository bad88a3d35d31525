import { createDocuments } from '@taskmesh/federation';
import { createLog } from '@taskmesh/service';
import { readGatewayConfig } from '../../src/config.ts';
import { DOCUMENT_RULES } from '../../src/supergraph/executor.ts';
import { createCallerBulkheads, createExecutor, type ExecutorDeps } from '../../src/supergraph/executor.ts';
import { createLargeResponses } from '../../src/supergraph/large-responses.ts';
import type { RequestCall } from '../../src/supergraph/operation.ts';
import { openSupergraph } from '../../src/supergraph/supergraph.ts';

export const OWNER = 'a0000000-0000-4000-8000-000000000001';

export const CALL: RequestCall = {
  identity: { role: 'user', userId: OWNER, sessionId: 'session' },
  ...{ requestId: 'request', traceparent: undefined, ip: '192.0.2.1', onEndedSessions: () => undefined },
};

export const { initial: supergraph } = await openSupergraph(undefined);

const { graphql: limits } = readGatewayConfig({ NODE_ENV: 'test' });

/** The documents of a gateway with that supergraph and the usual limits. */
export const documentsOfClients = () => createDocuments({ schema: supergraph.schema, limits, ...DOCUMENT_RULES });

/** An executor without limits of its own, and without services. */
export const createTestExecutor = (deps: Partial<ExecutorDeps>) =>
  createExecutor({
    supergraph,
    ...{ services: {}, metrics: { operation: () => undefined }, clock: { now: () => Date.now() }, kind: 'compiled' },
    blockingWork: { run: async (_network, work) => work() },
    ...{ largeResponses: createLargeResponses(), runForCaller: createCallerBulkheads() },
    ...{ endedSessions: { has: () => false }, requireRoom: () => undefined },
    log: createLog({ service: 'test', level: 'silent' }),
    ...deps,
  });
