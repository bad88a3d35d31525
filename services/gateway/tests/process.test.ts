import { createSigningKey } from '@taskmesh/identity';
import { eventually, makeTempDir, startService } from '@taskmesh/testing';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { composed } from './fakes/foreign-service.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');

const supergraphWith = (field: string): string =>
  composed([{ name: 'other', url: 'http://127.0.0.1:1', typeDefs: `type Query { ${field}: Int }` }]);

describe('the process of a gateway', () => {
  it('starts without any service, is not ready, and stops on request', async () => {
    const keyFile = join(makeTempDir(), 'key.json');
    await writeFile(keyFile, JSON.stringify(await createSigningKey('gateway-1')));
    const unreachable = 'http://127.0.0.1:1';
    const gateway = startService(MAIN, {
      IDENTITY_KEY_FILE: keyFile,
      ...{ AUTH_URL: unreachable, TASKS_URL: unreachable, BACKUP_URL: unreachable },
      ...{ REDIS_URL: 'redis://127.0.0.1:1', KAFKA_BROKERS: '127.0.0.1:1' },
      ...{ NODE_ENV: 'production', BACKUP_TOKEN: 'short' },
    });
    const [url, adminUrl] = [await gateway.url(), await gateway.adminUrl()];
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    const verbose = await fetch(`${adminUrl}/readyz?verbose`);
    const checks = { auth: false, tasks: false, endedSessions: false };
    expect(await verbose.json()).toMatchObject({ status: 'unavailable', checks });
    expect(await (await fetch(`${adminUrl}/metrics`)).text()).toContain('http_request_duration_seconds_bucket');
    const response = await fetch(`${url}/graphql?query={taskStatistics{total}}`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(gateway.output()).toContain('BACKUP_TOKEN has fewer than 32 characters');
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  }, 180_000);

  it('loads a new supergraph at SIGHUP, and continues', async () => {
    const file = join(makeTempDir(), 'supergraph.graphql');
    const write = (field: string) => writeFile(file, supergraphWith(field));
    await write('first');
    const gateway = startService(MAIN, { SUPERGRAPH_FILE: file });
    const url = await gateway.url();
    const fields = async () => {
      const query = encodeURIComponent('{ __type(name: "Query") { fields { name } } }');
      const response = await fetch(`${url}/graphql?query=${query}`);
      return ((await response.json()) as { data: { __type: { fields: unknown } } }).data.__type.fields;
    };
    expect(await fields()).toEqual([{ name: 'first' }]);
    await write('second');
    gateway.child.kill('SIGHUP');
    await eventually(async () => expect(await fields()).toEqual([{ name: 'second' }]));

    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  }, 180_000);
});
