import { execFile } from 'node:child_process';
import { listen } from '@taskmesh/testing';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { findFreePorts, findPortError } from './ports.ts';

describe('free ports', () => {
  it('are distinct and below the range for outgoing connections', async () => {
    const ports = await findFreePorts(30);
    expect(new Set(ports).size).toBe(30);
    expect(Math.max(...ports)).toBeLessThan(32_768);
  });

  it('exclude the ports to avoid', async () => {
    const all = Array.from({ length: 17_000 }, (_, index) => 15_000 + index);
    const allowed = new Set(all.splice(5_000, 1_000));
    expect((await findFreePorts(2, all)).every((port) => allowed.has(port))).toBe(true);
  });

  it('differ between processes that search at the same time', async () => {
    const script = `import { findFreePorts } from '${import.meta.resolve('./ports.ts')}'; console.log(await findFreePorts(100) + '')`;
    const search = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    const ports = (await Promise.all([search(), search(), search(), search()])).flatMap(({ stdout }) =>
      stdout.trim().split(','),
    );
    expect(new Set(ports).size).toBe(400);
  });

  it('reports why a port is not available', async () => {
    const { port, close } = await listen(createServer());
    expect(await findPortError(port, '127.0.0.1')).toBe('EADDRINUSE');
    await close();
    expect(await findPortError(port, '127.0.0.1')).toBeUndefined();
  });
});
