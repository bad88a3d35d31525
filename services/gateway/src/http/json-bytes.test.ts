import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { readJsonBytes } from './json-bytes.ts';

describe('a JSON body', () => {
  it('is refused at once when its client left before it was asked for', async () => {
    const request = new IncomingMessage(new Socket());
    request.headers['content-length'] = '2';
    request.rawHeaders = ['Content-Type', 'application/json'];
    request.destroy();
    await once(request, 'close');
    await expect(readJsonBytes(request, '127.0.0.1')).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ message: 'The body ended too early.' }],
    });
  });
});
