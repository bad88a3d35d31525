import { unavailable } from '@taskmesh/contracts';
import { createLog } from '@taskmesh/service';
import { readFileSync } from 'node:fs';
import { readGatewayConfig } from '../config.ts';
import { createDocuments } from '../graphql/documents.ts';
import { createCallerBulkheads, createExecutor } from './executor.ts';
import { createLargeAnswers } from './large-answers.ts';
import type { GraphSources, RequestCall } from './operation.ts';
import { buildSupergraph } from './supergraph.ts';
import { createTurns, type Turns } from './turns.ts';

const supergraph = buildSupergraph(readFileSync(new URL('../../supergraph.graphql', import.meta.url), 'utf8'));
const call: RequestCall = {
  identity: { role: 'anonymous' },
  requestId: 'request',
  traceparent: undefined,
  ip: '192.0.2.1',
  onEndedSessions: () => undefined,
};

function run(turns: Turns, changes: Partial<typeof supergraph> = {}) {
  const executor = createExecutor({
    ...{ turns, largeAnswers: createLargeAnswers(), runForCaller: createCallerBulkheads() },
    requireRoom: () => undefined,
    supergraph: { ...supergraph, ...changes },
    services: {} as GraphSources, // none is asked
    metrics: { operation: () => undefined },
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
    kind: 'compiled',
  });
  const { admit } = createDocuments({
    schema: supergraph.schema,
    config: readGatewayConfig({ NODE_ENV: 'test' }).graphql,
  });
  return executor.run({ operation: admit('{ taskStatistics { total } }'), variables: {}, cost: 1 }, call);
}

it('ends an operation that cannot be planned with an error, and nothing else', async () => {
  const planner = {
    buildQueryPlan: () => {
      const until = performance.now() + 10; // so that others have their time behind it
      while (performance.now() < until);
      throw new Error('no plan');
    },
  } as unknown as typeof supergraph.planner;
  expect(await run(createTurns(), { planner })).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
  });
});

it('says when its turn did not come', async () => {
  const turns = { run: async () => Promise.reject(unavailable()) };
  expect(await run(turns)).toMatchObject({ data: null, errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
});
