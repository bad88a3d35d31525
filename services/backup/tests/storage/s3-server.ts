import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Server {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

/** The library has no types. */
const S3rver = createRequire(import.meta.url)('s3rver') as new (options: object) => Server;

export interface S3Server {
  /** For BACKUP_S3_URL. */
  url(prefix?: string, key?: string): string;
  stop(): Promise<void>;
  /** At the same address, with the same objects. */
  start(): Promise<void>;
  close(): Promise<void>;
}

const BUCKET = 'archives';

/** A server that speaks S3, on a free port. */
export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'taskmesh-s3-'));
  let port = 0;
  let server: Server | undefined;
  const start = async () => {
    server = new S3rver({ port, address: '127.0.0.1', silent: true, directory, configureBuckets: [{ name: BUCKET }] });
    port = (await server.run()).port;
  };
  const stop = async () => {
    await server?.close();
    server = undefined;
  };
  await start();
  return {
    url: (prefix = '', key = 'S3RVER:S3RVER') => `s3://${key}@${BUCKET}/${prefix}?endpoint=http://127.0.0.1:${port}`,
    start,
    stop,
    async close() {
      await stop();
      await rm(directory, { recursive: true });
    },
  };
}
