import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createRedisKeyValue, whyRedisFails } from '@taskmesh/key-value';
import { findFreePort, startRedis, type Server } from '@taskmesh/local';
import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';

describe('a Redis that is a read-only replica', () => {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-redis-replica-'));
  let server: Server;
  const replicaOf = async (primary: string) => {
    const { port, password } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`AUTH ${password}\r\nREPLICAOF ${primary}\r\nQUIT\r\n`);
    expect(await text(socket)).toBe('+OK\r\n+OK\r\n+OK\r\n');
  };

  beforeAll(async () => {
    server = await startRedis({ dataDir: join(dir, 'redis'), log: () => undefined, port: await findFreePort() });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it('is reported as one and not as available, and is used once it is promoted', async () => {
    const lines: { msg: string; reason?: string }[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const store = createRedisKeyValue({
      url: server.url,
      log: createLog({ service: 'test', level: 'info', destination }),
    });
    try {
      await eventually(store.isUp);
      await replicaOf('127.0.0.1 1');
      await eventually(async () => {
        await store.set('key', 'value', { ttlSeconds: 60 });
        return !store.isUp() && lines.length > 0;
      });
      expect(lines).toEqual([
        expect.objectContaining({
          msg: 'Redis does not answer; going on without it',
          reason: 'is a replica, which takes no writes: REDIS_URL must lead to the primary',
        }),
      ]);
      expect(await whyRedisFails({ url: server.url })).toMatchObject({ reason: lines[0]?.reason });
      await replicaOf('NO ONE');
      await eventually(store.isUp, { timeoutMs: 10_000 });
      await store.set('key', 'value', { ttlSeconds: 60 });
      expect(await store.get('key')).toBe('value');
    } finally {
      await store.close();
    }
  }, 30_000);
});
