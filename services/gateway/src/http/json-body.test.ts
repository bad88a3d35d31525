import { createLog } from '@taskmesh/service';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { Registry } from 'prom-client';
import { clientRequests } from './client-request.ts';
import { memoryOf, readJsonObject } from './json-body.ts';
import { createMemory } from './memory.ts';
import { createTurns } from '../supergraph/turns.ts';

it('counts a text with the objects that it becomes', () => {
  const ordinary = JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } });
  expect(memoryOf(Buffer.from(ordinary))).toBeLessThan(1_024);
  const empties = JSON.stringify({ variables: { x: Array.from({ length: 1_300 }, () => []) } });
  expect(memoryOf(Buffer.from(empties))).toBeGreaterThan(30 * empties.length);
});

describe('a JSON body', () => {
  it('is refused at once when its client left before it was asked for', async () => {
    const memory = createMemory({
      maxBytes: 1_000,
      metrics: new Registry(),
      log: createLog({ service: 'test', level: 'silent' }),
    });
    const clientIp = () => '127.0.0.1';
    const request = new (clientRequests({ memory, clientIp }))(new Socket());
    request.headers['content-length'] = '2';
    request.rawHeaders = ['Content-Type', 'application/json'];
    request.destroy();
    await once(request, 'close');
    await expect(readJsonObject(request, { clientIp, turns: createTurns() })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [{ message: 'The body ended too early.' }],
    });
  });
});
