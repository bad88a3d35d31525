import { buffer, text } from 'node:stream/consumers';
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { createLines, receiveBody } from './streams.ts';

it('the lines of long work end with the result, even if abandoned work still reports progress', async () => {
  const lines = createLines({ repeatMs: 60_000 });
  lines.progress({ phase: 'dump' });
  lines.end({ result: null });
  lines.progress({ phase: 'compress' });
  lines.progress({ phase: 'compress' });
  expect(await text(lines.stream)).toBe('{"progress":{"phase":"dump"}}\n{"result":null}\n');
});

it('a received body fails at once when its client disconnects before everything was read', async () => {
  const request = new IncomingMessage(new Socket());
  request.complete = true;
  for (const part of [Buffer.alloc(2 * 1024 * 1024), Buffer.from('the end'), null]) request.push(part);
  const body = receiveBody(request, { silenceMs: 60_000 });
  await once(request, 'pause');
  request.destroy();
  await once(request, 'close');
  await expect(buffer(body)).rejects.toThrow('The upload was interrupted.');
});
