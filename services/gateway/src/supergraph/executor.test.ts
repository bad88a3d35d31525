import { unavailable } from '@taskmesh/contracts';
import { createDocuments } from '@taskmesh/federation';
import { createLog } from '@taskmesh/service';
import { readFileSync } from 'node:fs';
import { readGatewayConfig } from '../config.ts';
import { DOCUMENT_RULES } from './document-rules.ts';
import { createCallerBulkheads, createExecutor } from './executor.ts';
import { createLargeResponses } from './large-responses.ts';
import { type GraphSources, LARGE_COST, type RequestCall } from './operation.ts';
import { buildSupergraph } from './supergraph.ts';
import { createBlockingWork, type BlockingWork } from './blocking-work.ts';

const supergraph = buildSupergraph(readFileSync(new URL('../../supergraph.graphql', import.meta.url), 'utf8'));
const call: RequestCall = {
  identity: { role: 'anonymous' },
  requestId: 'request',
  traceparent: undefined,
  ip: '192.0.2.1',
  onEndedSessions: () => undefined,
};

function createRun(blockingWork: BlockingWork, changes: Partial<typeof supergraph> = {}) {
  const executor = createExecutor({
    ...{ blockingWork, largeResponses: createLargeResponses(), runForCaller: createCallerBulkheads() },
    endedSessions: { has: () => false },
    requireRoom: () => undefined,
    supergraph: { ...supergraph, ...changes },
    services: {} as GraphSources, // none responds
    metrics: { operation: () => undefined },
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
    kind: 'compiled',
  });
  const { admit } = createDocuments({
    schema: supergraph.schema,
    limits: readGatewayConfig({ NODE_ENV: 'test' }).graphql,
    ...DOCUMENT_RULES,
  });
  return (source = '{ taskStatistics { total } }', variables = {}, cost = 1) =>
    executor.run({ operation: admit(source), variables, cost }, call);
}

it('ends an operation that cannot be planned with an error, and nothing else', async () => {
  const planner = {
    buildQueryPlan: () => {
      const until = performance.now() + 10; // so that a pause for others follows
      while (performance.now() < until);
      throw new Error('no plan');
    },
  } as unknown as typeof supergraph.planner;
  expect(await createRun(createBlockingWork(), { planner })()).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }],
  });
});

it('reports an operation whose turn did not come', async () => {
  const blockingWork = { run: async () => Promise.reject(unavailable()) };
  expect(await createRun(blockingWork)()).toMatchObject({
    data: null,
    errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }],
  });
});

describe('the queue of a network', () => {
  const count = () => {
    const networks: string[] = [];
    const run = createRun({ run: async (network, work) => (networks.push(network), work()) });
    return { turns: networks, run };
  };

  it('plans each combination of conditions that has no plan yet', async () => {
    const { turns: blockingWork, run } = count();
    const source = 'query ($with: Boolean!) { me { id name @include(if: $with) } }';
    await run(source, { with: true });
    const before = blockingWork.length;
    await run(source, { with: true });
    expect(blockingWork.length).toBe(before);
    await run(source, { with: false });
    expect(blockingWork.slice(before)).toEqual([call.ip]);
  });

  it('queues each introspection, because its cost does not reflect the size of the schema', async () => {
    const { turns: blockingWork, run } = count();
    for (let time = 1; time <= 3; time++) {
      await run('{ __schema { types { name } } }');
      expect(blockingWork).toHaveLength(time);
    }
  });

  it('includes what follows a costly result, because its caller serializes it in one step', async () => {
    const run = createRun(createBlockingWork());
    await run('{ me { id } }'); // planned
    const pauses: number[] = [];
    let endedMs = 0;
    const runAndSerialize = async () => {
      await run('{ me { id } }', {}, LARGE_COST + 1);
      const begunMs = performance.now();
      pauses.push(begunMs - endedMs);
      while (performance.now() < begunMs + 20);
      endedMs = performance.now();
    };
    await Promise.all([runAndSerialize(), runAndSerialize(), runAndSerialize()]);
    expect(Math.min(...pauses.slice(1))).toBeGreaterThan(15);
  });
});
