import { startEmbedded } from '@taskmesh/all-in-one';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Platform } from './platform.ts';

/** An embedded platform for the tests of one file; it is started before them and gone after them. */
export function embeddedForTests(settings: Record<string, string> = {}): () => Platform {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-contract-'));
  let platform: Awaited<ReturnType<typeof startEmbedded>>;

  beforeAll(async () => {
    const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', PUBLIC_URL: PUBLIC_URL, ...settings };
    platform = await startEmbedded({ env, progress: () => {} });
  }, 60_000);
  afterAll(async () => {
    await platform.stop();
    rmSync(dataDir, { recursive: true });
  }, 30_000);

  return () => ({
    url: platform.url,
    dataDir,
    publicUrl: PUBLIC_URL,
    accessKeysFile: join(dataDir, 'keys', 'access-token-keys.json'),
  });
}

/** Where mails lead; the port that is listened on is not known before the start. */
const PUBLIC_URL = 'https://tasks.example.com';
