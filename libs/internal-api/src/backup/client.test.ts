import { listen } from '@taskmesh/testing';
import { createServer, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createBackupWorkClient } from './client.ts';
import { createStreamPool } from '../pools.ts';
let answer: (response: ServerResponse) => void;

const server = createServer((request, response) => {
  request.resume().on('end', () => answer(response));
});
const pool = createStreamPool((await listen(server)).url, { connections: 1 });
const work = createBackupWorkClient({ pool, signer: { tokenFor: async () => 'token' } });
afterAll(() => pool.destroy());

const asked: [string, () => Promise<unknown>][] = [
  ['list of work', () => work.verify('a.tar.gz')],
  ['archive', () => work.download('a.tar.gz')],
  ['place for an archive', () => work.upload('a.tar.gz', Readable.from(['content']))],
];

describe.each(asked)('a service of another version that does not know the %s', (_what, ask) => {
  it.each([
    '{"message":"Route POST:/internal/backup/x not found","error":"Not Found","statusCode":404}',
    '{"message":"Route POST:/internal/backup/x not found","error":"Not Found","statusCode":404}\n',
    '{"error":{"code":"CODE_OF_TOMORROW","message":"?"}}\n',
    'null',
    '<p>Nothing here.</p>',
  ])('counts as unavailable: %s', async (body) => {
    answer = (response) => response.writeHead(404, { 'content-type': 'application/json' }).end(body);
    await expect(ask()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});

it('recognises the response for a missing archive', async () => {
  answer = (response) => response.writeHead(404).end('{"error":{"code":"NOT_FOUND","message":"No such file."}}');
  expect(await work.download('a.tar.gz')).toBeUndefined();
});
