import { createSigningKey } from '@taskmesh/identity';
import { eventually, freePort, makeTempDir, nodeEnvironment } from '@taskmesh/testing';
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { composed } from './fakes/foreign-service.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');

function start(env: Record<string, string>): ChildProcessWithoutNullStreams & { output(): string } {
  const child = spawn(process.execPath, [MAIN], { env: { ...nodeEnvironment(), ...env } });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return Object.assign(child, { output: () => output });
}

const supergraphWith = (field: string): string =>
  composed([{ name: 'other', url: 'http://127.0.0.1:1', typeDefs: `type Query { ${field}: Int }` }]);

describe('the process of a gateway', () => {
  it('starts without any service, is not ready, and stops on request', async () => {
    const folder = makeTempDir();
    const keyFile = join(folder, 'key.json');
    await writeFile(keyFile, JSON.stringify(await createSigningKey('gateway-1')));
    const [port, adminPort] = [await freePort(), await freePort()];
    const unreachable = 'http://127.0.0.1:1';
    const child = start({
      ...{ PORT: String(port), ADMIN_PORT: String(adminPort), IDENTITY_KEY_FILE: keyFile },
      ...{
        AUTH_URL: unreachable,
        TASKS_URL: unreachable,
        BACKUP_URL: unreachable,
        REDIS_URL: 'redis://127.0.0.1:1',
        KAFKA_BROKERS: '127.0.0.1:1',
        ...{ NODE_ENV: 'production', BACKUP_TOKEN: 'short' },
      },
    });
    await eventually(async () => (await fetch(`http://127.0.0.1:${port}/livez`)).status === 200, { timeoutMs: 40_000 });
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(503);
    const verbose = await fetch(`http://127.0.0.1:${adminPort}/readyz?verbose`);
    expect(await verbose.json()).toMatchObject({
      status: 'unavailable',
      checks: { auth: false, tasks: false, endedSessions: false },
    });
    expect(await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()).toContain(
      'http_request_duration_seconds_bucket',
    );
    const answer = await fetch(`http://127.0.0.1:${port}/graphql?query={taskStatistics{total}}`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');

    expect(child.output()).toContain('BACKUP_TOKEN has fewer than 32 characters');
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await exited)[0]).toBe(0);
  }, 180_000);

  it('loads a new supergraph at SIGHUP, and continues', async () => {
    const folder = makeTempDir();
    const file = join(folder, 'supergraph.graphql');
    const write = (field: string) => writeFile(file, supergraphWith(field));
    await write('first');
    const [port, adminPort] = [await freePort(), await freePort()];
    const child = start({ PORT: String(port), ADMIN_PORT: String(adminPort), SUPERGRAPH_FILE: file });
    const fields = async () => {
      const query = encodeURIComponent('{ __type(name: "Query") { fields { name } } }');
      const answer = await fetch(`http://127.0.0.1:${port}/graphql?query=${query}`);
      return ((await answer.json()) as { data: { __type: { fields: unknown } } }).data.__type.fields;
    };
    await eventually(async () => expect(await fields()).toEqual([{ name: 'first' }]), { timeoutMs: 40_000 });
    await write('second');
    child.kill('SIGHUP');
    await eventually(async () => expect(await fields()).toEqual([{ name: 'second' }]));

    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect((await exited)[0]).toBe(0);
  }, 180_000);
});
