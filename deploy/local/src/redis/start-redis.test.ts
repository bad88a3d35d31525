import { whyRedisFails } from '@taskmesh/key-value';
import { connect } from 'node:net';
import { join } from 'node:path';
import { isAlive } from '../processes/process-table.ts';
import { temporaryDir } from '../testing/temporary-dir.ts';
import { startRedis } from './start-redis.ts';

const dir = temporaryDir('redis');
afterAll(dir.remove);

const start = (name: string, port?: number) =>
  startRedis({ dataDir: join(dir.path, name), log: () => undefined, ...(port ? { port } : {}) });

/** Sends inline commands and returns the answer to the last one. */
function command(url: string, text: string): Promise<string> {
  const { port, password } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  return new Promise<string>((resolve, reject) => {
    socket.once('error', reject);
    socket.on('data', (chunk) => chunk.toString().includes('done') && resolve(chunk.toString()));
    socket.write(`AUTH ${password}\r\n${text}\r\nECHO done\r\n`);
  }).finally(() => socket.destroy());
}

describe('our own Redis', () => {
  it('answers those who know the password only', async () => {
    const server = await start('private');
    expect(await whyRedisFails({ url: server.url })).toBeUndefined();
    expect(await whyRedisFails({ url: server.url.replace(/:[^:@]+@/, ':wrong@') })).toMatchObject({ isLasting: true });
    expect(await whyRedisFails({ url: server.url.replace(/\/\/.*@/, '//') })).toMatchObject({ isLasting: true });
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    expect((await whyRedisFails({ url: server.url }))?.reason).toContain('ECONNREFUSED');
  });

  it('has its address and its contents again after a kill', async () => {
    const server = await start('killed');
    await command(server.url, 'SET word here');
    server.kill('SIGKILL');
    await server.exited;
    const next = await start('killed', server.port);
    expect(next.url).toBe(server.url);
    expect(await command(next.url, 'GET word')).toContain('here');
    await next.stop();
  });
});
