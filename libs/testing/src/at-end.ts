import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';

/** Created by `tools/jest/environment.mjs` for each test and for each file; missing outside Jest. */
const CLEAN_UPS = Symbol.for('taskmesh.cleanUps');

/**
 * Runs `cleanUp` at the end of the running test or, if none is running, of the file: after its hooks, and before what was
 * registered earlier.
 */
export function atEnd(cleanUp: () => unknown): void {
  (globalThis as { [CLEAN_UPS]?: (() => unknown)[] })[CLEAN_UPS]?.push(cleanUp);
}

/** Creates a directory, which is removed at the end of the test or file. */
export function makeTempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-test-'));
  atEnd(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
  return dir;
}

/** Connects to a database until the end of the test or file, and runs the statements. */
export async function connectClient(url: string, ...statements: string[]): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // the server may end the session; its next query rejects
  await client.connect();
  atEnd(() => client.end());
  for (const statement of statements) await client.query(statement);
  return client;
}
