import { connect } from 'node:net';
import { join } from 'node:path';
import { isAlive } from './processes/process-table.ts';
import { temporaryDir } from './testing.ts';
import { startRedis } from './redis.ts';

const dir = temporaryDir('redis');

const start = (name: string, port?: number) =>
  startRedis({ dataDir: join(dir, name), log: () => undefined, ...(port ? { port } : {}) });

/** Logs in with the URL's password and sends a command. The result includes the response to the login. */
function answerTo(url: string, text: string): Promise<string> {
  const { port, password } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  return new Promise<string>((resolve, reject) => {
    socket.once('error', reject);
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString())).once('end', () => resolve(answer));
    socket.write(`AUTH ${password}\r\n${text}\r\nQUIT\r\n`);
  }).finally(() => socket.destroy());
}

describe('our own Redis', () => {
  it('responds only to clients with the password', async () => {
    const server = await start('private');
    expect(await answerTo(server.url, 'PING')).toContain('+PONG');
    expect(await answerTo(server.url.replace(/:[^:@]+@/, ':wrong@'), 'PING')).toMatch(/WRONGPASS[^]*NOAUTH/);
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    await expect(answerTo(server.url, 'PING')).rejects.toThrow('ECONNREFUSED');
  });

  it('recovers its address and contents after a kill', async () => {
    const server = await start('killed');
    await answerTo(server.url, 'SET word here');
    server.kill('SIGKILL');
    await server.exited;
    const next = await start('killed', server.port);
    expect(next.url).toBe(server.url);
    expect(await answerTo(next.url, 'GET word')).toContain('here');
    await next.stop();
  });
});
