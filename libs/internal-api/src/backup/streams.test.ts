import { buffer, text } from 'node:stream/consumers';
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { createLines, receiveBody } from './streams.ts';

describe('the lines of long work', () => {
  it('end with the result, even if abandoned work still reports progress', async () => {
    const lines = createLines({ repeatMs: 60_000 });
    lines.progress({ phase: 'dump' });
    lines.end({ result: null });
    lines.progress({ phase: 'compress' });
    lines.progress({ phase: 'compress' });
    expect(await text(lines.stream)).toBe('{"progress":{"phase":"dump"}}\n{"result":null}\n');
  });
});

const SILENCE_MS = 60_000;
const requestWith = (...parts: Buffer[]) => {
  const request = new IncomingMessage(new Socket());
  for (const part of parts) request.push(part);
  return request;
};

describe('a received body', () => {
  it('fails at once when its client disconnects before everything was read', async () => {
    const request = requestWith(Buffer.alloc(2 * 1024 * 1024), Buffer.from('the end'));
    request.complete = true;
    request.push(null);
    const body = receiveBody(request, { silenceMs: SILENCE_MS });
    await once(request, 'pause');
    request.destroy();
    await once(request, 'close');
    await expect(buffer(body)).rejects.toThrow('The upload broke off.');
  });
});
