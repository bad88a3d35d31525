import { makeTempDir, ownInstallation } from '@taskmesh/testing';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProduct } from '../../product.ts';

const dir = makeTempDir();

/** Returns the output of a command that fails to start. Expects no secrets and no stack trace in it. */
async function refusal(settings: Record<string, string>): Promise<string> {
  const product = await startProduct('start', settings).catch((error: Error) => error.message);
  if (typeof product === 'string') {
    expect(product).not.toMatch(/a-secret|^ +at /m);
    return product;
  }
  await product.stop();
  throw new Error('It runs.');
}

describe('invalid settings', () => {
  it('are all reported at once, by name and without secrets', async () => {
    const refused = await refusal({
      POSTGRES_URL: 'postgres://u:a-secret@127.0.0.1:1/x',
      REDIS_URL: 'redis://:a-secret@127.0.0.1:1',
      KAFKA_BROKERS: '127.0.0.1:1',
    });
    expect(refused).toMatch(
      /- POSTGRES_URL is set, but .*\n.*- REDIS_URL is set, but .*\n.*- KAFKA_BROKERS is set, but /,
    );
  });

  it('are reported before any connection is made', async () => {
    const refused = await refusal({
      POSTGRES_URL: 'nowhere',
      REDIS_URL: 'rediss://127.0.0.1?sslrootcert=/nowhere.pem',
      KAFKA_BROKERS: 'kafkas://taskmesh@localhost:9092?sslrootcert=/nowhere.pem',
      SMTP_URL: 'nowhere',
      BACKUP_S3_URL: 'nowhere',
    });
    for (const name of [
      'POSTGRES_URL must be a URL',
      'sslrootcert in REDIS_URL must name a readable PEM file',
      'sslrootcert in KAFKA_BROKERS must name a readable PEM file',
      'KAFKA_BROKERS must have ?mechanism=plain',
      'KAFKA_SASL_PASSWORD is needed',
      'SMTP_URL must be a URL',
      'BACKUP_S3_URL must be like',
    ])
      expect(refused).toContain(`  - ${name}`);
  });

  const garbage = join(dir, 'graph.graphql');
  writeFileSync(garbage, 'garbage');
  const isLinux = process.platform === 'linux';
  it.each([
    ...(isLinux ? [['DATA_DIR', '/proc/nowhere', ' must name a writable directory']] : []),
    ...(isLinux ? [['BACKUPS_DIR', '/proc/nowhere', ' must name a writable directory']] : []),
    ['ACCESS_TOKEN_KEYS_FILE', '{"d":"a-secret"}', ' names no usable access token keys: ENOENT'],
    ['SUPERGRAPH_FILE', garbage, ' must name a supergraph of Federation 2'],
    ['SUPERGRAPH_FILE', join(dir, 'nowhere.graphql'), ' must name a supergraph of Federation 2'],
  ])('are explained: %s=%s', async (name = '', value = '', problem = '') => {
    const { POSTGRES_URL, DATABASE_PREFIX } = ownInstallation();
    expect(await refusal({ POSTGRES_URL, DATABASE_PREFIX, [name]: value })).toContain(`- ${name}${problem}`);
  });
});
