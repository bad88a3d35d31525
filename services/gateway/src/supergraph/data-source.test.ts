import { unavailable } from '@taskmesh/contracts';
import { createLog, type Log } from '@taskmesh/service';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { Registry } from 'prom-client';
import type { Connections, RequestOptions } from '../connections/connections.ts';
import { createServiceMap } from './data-source.ts';
import type { OperationRun, RequestCall } from './operation.ts';
import { createGraphMetrics } from './executor.ts';
import type { Supergraph } from './supergraph.ts';

const NOW = 1_000_000;
const IN_TIME_MS = 10_000;

const SILENT = createLog({ service: 'test', level: 'silent' });
const DEPS = { metrics: createGraphMetrics(new Registry()), clock: { now: () => NOW }, log: SILENT };

/** For whom requests were sent. */
const networks: unknown[] = [];

/** The timeouts of requests to these services of a graph. */
function waits(services: Supergraph['services']) {
  const seen: number[] = [];
  const request = async (
    _service: string,
    _url: unknown,
    _request: unknown,
    { timeoutMs = 0, network }: RequestOptions,
  ) => {
    seen.push(timeoutMs);
    networks.push(network);
    return { data: {} };
  };
  const map = createServiceMap({ services } as Supergraph, {
    ...DEPS,
    connections: { request } as unknown as Connections, // all that data sources use
  });
  return async (name: string, query: string, given: Partial<RequestCall> = {}, inMs = IN_TIME_MS) => {
    const call = { identity: { role: 'operator' }, requestId: 'r', ip: '2001:db8::1', ...given };
    const run = { call, deadline: NOW + inMs, mutation: query.startsWith('mutation') } as unknown as OperationRun;
    await map[name]?.process({ request: { query }, context: run } as never); // all that it reads
    return seen.at(-1);
  };
}

const own = (name: string) => ({ name, url: '', own: true });

it("gives operators' mutations of backup time for large databases, and everything else the time limit of an operation", async () => {
  const wait = waits([own('tasks'), own('backup')]);
  expect(await wait('backup', 'mutation { restoreBackup }')).toBe(3_600_000);
  expect(await wait('backup', '{ backups { file } }')).toBe(IN_TIME_MS);
  expect(await wait('tasks', 'mutation { createTask }')).toBe(IN_TIME_MS);
  const user = { role: 'user', userId: 'u', sessionId: 's' } as const;
  for (const given of [{ identity: { role: 'anonymous' } }, { identity: user }, { limitMs: IN_TIME_MS }] as const)
    expect(await wait('backup', 'mutation { createBackup }', given)).toBe(IN_TIME_MS);
  const ofForeign = waits([{ name: 'backup', url: 'http://backup.example/', own: false }]);
  expect(await ofForeign('backup', 'mutation { restoreBackup }')).toBe(IN_TIME_MS);
  expect(await waits([own('tasks')])('tasks', 'mutation { createTask }', {}, 0)).toBeUndefined(); // too late
});

it('names the network for which it asks, to the pools of foreign services, too', async () => {
  const wait = waits([own('tasks'), own('backup'), { name: 'foreign', url: 'http://foreign.example/', own: false }]);
  networks.length = 0;
  for (const service of ['tasks', 'backup', 'foreign']) await wait(service, '{ field }');
  expect(networks).toEqual(Array.from({ length: 3 }, () => '2001:db8:0:0::/64'));
});

const run = { call: { identity: { role: 'operator' }, ip: '192.0.2.1' }, deadline: NOW + IN_TIME_MS, mutation: false };

/** The result of a query to a service that responds in this way. */
async function askOne(service: ReturnType<typeof own>, respond: () => Promise<SubgraphResult>, log: Log = SILENT) {
  const connections = { request: respond } as unknown as Connections; // all that data sources use
  const map = createServiceMap({ services: [service] } as unknown as Supergraph, { ...DEPS, connections, log });
  return map[service.name]?.process({ request: { query: '{ x }' }, context: run } as never); // all that it reads
}

it('treats a service of another version that does not know a request as unavailable', async () => {
  const unknown = { errors: [{ message: 'Cannot query field "x" on type "Query".' }] };
  expect(await askOne(own('tasks'), async () => unknown)).toEqual({
    data: null,
    errors: [{ message: expect.any(String), extensions: { code: 'SERVICE_UNAVAILABLE' } }],
  });
  for (const answer of [
    { data: null, ...unknown },
    { errors: [{ message: 'Variable "$id" of required type "ID!" was not provided.' }] },
    { errors: [{ message: 'Too much.', extensions: { code: 'RATE_LIMITED' } }] },
  ])
    expect(await askOne(own('tasks'), async () => answer)).toEqual({ data: null, errors: answer.errors });
  const foreign = { name: 'other', url: 'http://other.example/', own: false };
  expect(await askOne(foreign, async () => unknown)).toEqual({ data: null, errors: unknown.errors });
});

it('logs that a service did not respond, but not requests that were refused here', async () => {
  const logged: unknown[] = [];
  const log = { warn: (fields: { err: Error }) => logged.push(fields.err.message) } as unknown as Log; // all that is used
  for (const error of [
    unavailable('Too many large results are being made right now.'),
    unavailable(undefined, new Error('The connection broke.')),
  ])
    await askOne(own('tasks'), () => Promise.reject(error), log);
  expect(logged).toEqual(['The connection broke.']);
});
