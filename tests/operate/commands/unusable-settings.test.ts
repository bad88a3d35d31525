import { ownInstallation } from '@taskmesh/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProduct } from './start-product.ts';

const dir = mkdtempSync(join(tmpdir(), 'taskmesh-unusable-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** What the command prints when it ends before it runs. */
async function refusal(settings: Record<string, string>): Promise<string> {
  const product = await startProduct('start', settings).catch((error: Error) => error.message);
  if (typeof product === 'string') return product;
  await product.stop();
  throw new Error('It runs.');
}

describe('settings that cannot be used', () => {
  it('are all reported at once, by their names and without secrets', async () => {
    const refused = await refusal({
      POSTGRES_URL: 'postgres://u:a-secret@127.0.0.1:1/x',
      REDIS_URL: 'redis://:a-secret@127.0.0.1:1',
      KAFKA_BROKERS: '127.0.0.1:1',
    });
    expect(refused).toMatch(
      /- POSTGRES_URL is set, but .*\n.*- REDIS_URL is set, but .*\n.*- KAFKA_BROKERS is set, but /,
    );
    expect(refused).not.toMatch(/a-secret|^ +at /m);
  }, 180_000);

  it('are reported before anything is reached', async () => {
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
    expect(refused).not.toMatch(/^ +at /m);
  }, 180_000);

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('are reported when they lead to directories that cannot be written', async () => {
    const { POSTGRES_URL, DATABASE_PREFIX } = ownInstallation();
    for (const name of ['DATA_DIR', 'BACKUPS_DIR']) {
      const refused = await refusal({ POSTGRES_URL, DATABASE_PREFIX, [name]: '/proc/nowhere' });
      expect(refused).toContain(`- ${name} must lead to a directory that can be written`);
      expect(refused).not.toMatch(/^ +at /m);
    }
  });

  it('are said in words when the keys of access tokens are none', async () => {
    const { POSTGRES_URL, DATABASE_PREFIX } = ownInstallation();
    const refused = await refusal({ POSTGRES_URL, DATABASE_PREFIX, ACCESS_TOKEN_KEYS_FILE: join(dir, 'nowhere.json') });
    expect(refused).toContain('- ACCESS_TOKEN_KEYS_FILE: the access token keys in ');
    expect(refused).not.toMatch(/^ +at /m);
  }, 180_000);

  it('are said in words when a supergraph is none', async () => {
    const file = join(dir, 'graph.graphql');
    writeFileSync(file, 'garbage');
    for (const path of [file, join(dir, 'nowhere.graphql')]) {
      const { POSTGRES_URL, DATABASE_PREFIX } = ownInstallation();
      const refused = await refusal({ POSTGRES_URL, DATABASE_PREFIX, SUPERGRAPH_FILE: path });
      expect(refused).toMatch(/- SUPERGRAPH_FILE must name a supergraph of Federation 2/);
      expect(refused).not.toMatch(/^ +at /m);
    }
  }, 180_000);
});
