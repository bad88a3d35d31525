import { findFreePorts, startPostgres } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startNode, type NodeProcess } from './node-process.ts';
import type { Target, TargetOptions } from './target.ts';
import { changesPublished } from './unpublished.ts';

const MAIN = new URL('../../../deploy/all-in-one/src/main.ts', import.meta.url);
const START_MS = 60_000;

/** The embedded platform as `npm start` runs it. Its PostgreSQL is started from here, so that the two can be told apart. */
export async function startEmbeddedTarget({ dataDir, env, log }: TargetOptions): Promise<Target> {
  const closers = new Closers();
  try {
    const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres'), log });
    closers.add(() => postgres.stop());
    const [port = 0, adminPort = 0] = await findFreePorts(2);
    const server = await startNode({
      name: 'embedded',
      file: MAIN,
      env: {
        ...env,
        DATA_DIR: join(dataDir, 'taskmesh'),
        POSTGRES_URL: postgres.url,
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
      },
      logFile: join(dataDir, 'embedded.log'),
    });
    closers.add(() => server.stop());
    await untilReady(server, `http://127.0.0.1:${adminPort}/readyz`);
    return {
      name: 'embedded',
      url: `http://127.0.0.1:${port}`,
      parts: [
        { name: 'platform', role: 'server', pid: server.pid },
        { name: 'postgres', role: 'postgres', pid: postgres.pid },
      ],
      postgresVersion: postgres.version,
      servers: { postgres: postgres.url },
      settle: () => changesPublished(postgres.url),
      stop: () => closers.closeAll(),
    };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

/** Resolves when a process of ours says at its admin port that it is. @throws when it ends, or takes too long */
export async function untilReady(server: NodeProcess, url: string): Promise<void> {
  const ended = new AbortController();
  server.nextMessage().catch((error: unknown) => ended.abort(error)); // it sends none
  for (const deadline = Date.now() + START_MS; ; await sleep(50)) {
    ended.signal.throwIfAborted();
    const isReady = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    if (Date.now() > deadline) throw new Error(`${url} was not ready after ${START_MS / 1000} s.`);
  }
}
