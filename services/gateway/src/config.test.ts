import { createSigningKey } from '@taskmesh/identity';
import type { Env } from '@taskmesh/service';
import { problemsOf } from '@taskmesh/service/testing';
import { makeTempDir } from '@taskmesh/testing';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readGatewayConfig, readGatewayProcess } from './config.ts';

const URLS = { AUTH_URL: 'http://a:1', TASKS_URL: 'http://t:1', BACKUP_URL: 'http://b:1' };

const expectProblem = (env: Env, what: string) =>
  expect(problemsOf(() => readGatewayConfig(env))).toEqual([expect.stringContaining(what)]);

describe('the configuration', () => {
  it('needs no settings, and then listens on this machine only, with the limits of docs/limits.md', () => {
    const defaults = { host: '127.0.0.1', port: 4000, adminHost: '127.0.0.1', publicUrl: 'http://127.0.0.1:4000' };
    const graphql = { maxDepth: 12, maxAliases: 30, maxTokens: 4_000, maxCost: 5_000 };
    expect(readGatewayConfig({})).toMatchObject({ ...defaults, graphql });
  });

  it('reports every problem at once', () => {
    const env = {
      ...{ PORT: 'x', TASKS_CONTRACT: 'half', CORS_ORIGINS: 'app.example.com', TRUSTED_PROXIES: '10.0.0.0/99' },
      ...{ REQUEST_TIMEOUT_S: '0', GRAPHQL_MAX_COST: '-1' },
    };
    const problems = problemsOf(() => readGatewayConfig(env));
    expect(problems).toHaveLength(6);
    for (const name of Object.keys(env)) expect(problems.join('\n')).toContain(name);
  });

  it('requires a token for backups in production and hides the schema', () => {
    expectProblem({ NODE_ENV: 'production' }, 'BACKUP_TOKEN');
    const production = { NODE_ENV: 'production', BACKUP_TOKEN: 't' };
    expect(readGatewayConfig(production).graphql.introspection).toBe(false);
    expect(readGatewayConfig({ ...production, GRAPHQL_INTROSPECTION: 'on' }).graphql.introspection).toBe(true);
  });

  it('reads the token of this machine from its file if there is no backup token', async () => {
    const dir = makeTempDir();
    const file = join(dir, 'keys', 'machine-token');
    const read = (env: Env = {}) => readGatewayConfig({ DATA_DIR: dir, ...env }).secrets.machineToken;
    expect(read()).toBeUndefined();
    await mkdir(join(dir, 'keys'));
    expect(read()).toBeUndefined();
    const token = 'of-this-machine-and-long-enough-0123456789';
    await writeFile(file, `${token}\n`);
    expect(read()).toEqual({ file, token });
    expect(read({ BACKUP_TOKEN: 't' })).toBeUndefined();
    for (const content of ['', 'short', `${token} ${token}`, `${token}\n${token}`, 'x'.repeat(31)]) {
      await writeFile(file, content);
      expect([content, read()]).toEqual([content, undefined]);
    }
  });

  it('requires a manifest if documents are trusted, and a port for operators', () => {
    expectProblem({ TRUSTED_DOCUMENTS: 'only' }, 'TRUSTED_DOCUMENTS_FILE');
    expectProblem({ TRUSTED_DOCUMENTS_FILE: '/documents.json' }, 'TRUSTED_DOCUMENTS must be allow or only');
    expectProblem({ PORT: '60000' }, 'ADMIN_PORT');
  });
});

describe('the neighbours of a process', () => {
  it('must be configured, and so must Kafka and the key that signs for them', async () => {
    expect(problemsOf(() => readGatewayProcess({}))).toHaveLength(Object.keys(URLS).length + 2);
    const IDENTITY_KEY_FILE = join(makeTempDir(), 'key.json');
    const identityKey = await createSigningKey('gateway-1');
    await writeFile(IDENTITY_KEY_FILE, JSON.stringify(identityKey));
    expect(readGatewayProcess({ ...URLS, IDENTITY_KEY_FILE, KAFKA_BROKERS: 'k1:9092,k2:9092' })).toEqual({
      urls: { auth: 'http://a:1', tasks: 'http://t:1', backup: 'http://b:1' },
      identityKey,
      redis: undefined,
      kafka: { brokers: ['k1:9092', 'k2:9092'], topicPrefix: '' },
    });
  });

  it('are not our services if a foreign graph has its own', () => {
    expect(readGatewayProcess({ SUPERGRAPH_FILE: '/graph.graphql' }).identityKey).toBeUndefined();
  });
});
