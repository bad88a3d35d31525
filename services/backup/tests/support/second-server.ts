import { atEnd, makeTempDir } from '@taskmesh/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const LOCAL = new URL('../../../../deploy/local/src/index.ts', import.meta.url).href;

/** Starts a second PostgreSQL server with its own settings, for the tests of a file. Returns its URL. */
export async function startSecondServer(conf: string): Promise<string> {
  const dir = makeTempDir();
  const script = `
    const { startPostgres } = await import(${JSON.stringify(LOCAL)});
    const { appendFileSync } = await import('node:fs');
    const dataDir = ${JSON.stringify(join(dir, 'postgres'))};
    const start = () => startPostgres({ dataDir, log: () => {}, isThrowaway: true });
    let server = await start();
    await server.stop();
    appendFileSync(dataDir + '/postgresql.conf', ${JSON.stringify(conf)});
    server = await start();
    process.stdin.on('end', () => server.stop()).resume();
    console.log(server.url);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  atEnd(async () => {
    child.stdin.end();
    await exit;
  });
  return String(value);
}
