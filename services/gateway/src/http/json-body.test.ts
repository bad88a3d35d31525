import { jest } from '@jest/globals';
import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { clientRequests } from './client-request.ts';
import { memoryOf, readJsonObject } from './json-body.ts';
import { createMemory } from './memory.ts';
import { createBlockingWork } from '../supergraph/blocking-work.ts';

it('counts a text together with its parsed objects', () => {
  const ordinary = JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } });
  expect(memoryOf(Buffer.from(ordinary))).toBeLessThan(1_024);
  const empties = JSON.stringify({ variables: { x: Array.from({ length: 1_300 }, () => []) } });
  expect(memoryOf(Buffer.from(empties))).toBeGreaterThan(30 * empties.length);
});

const clientIp = () => '127.0.0.1';

function fixture() {
  const log = createLog({ service: 'test', level: 'silent' });
  const memory = createMemory({ maxBytes: 1_000, metrics: new Registry(), log });
  const request = new (clientRequests({ memory, clientIp }))(new Socket());
  request.rawHeaders = ['Content-Type', 'application/json'];
  return { memory, request };
}

it('refuses a body at once if its client left before it was read', async () => {
  const { request } = fixture();
  request.headers['content-length'] = '2';
  request.destroy();
  await once(request, 'close');
  await expect(readJsonObject(request, { clientIp, blockingWork: createBlockingWork() })).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    issues: [{ message: 'The body ended too early.' }],
  });
});

it('counts a decoded body while it waits for its turn, and until its response is sent', async () => {
  const { memory, request } = fixture();
  const held = jest.spyOn(memory, 'hold');
  const { promise, resolve } = Promise.withResolvers<void>();
  const blockingWork = { run: async <Result>(_network: string, work: () => Result) => promise.then(work) };
  const body = gzipSync(JSON.stringify({ text: ' '.repeat(500_000) }));
  Object.assign(request.headers, { 'content-length': String(body.length), 'content-encoding': 'gzip' });
  request.complete = true;
  request.push(body);
  request.push(null);
  const reading = readJsonObject(request, { clientIp, blockingWork });
  await eventually(() => expect(held.mock.lastCall?.[1]).toBeGreaterThan(480_000));
  resolve();
  await reading;
  expect(held.mock.lastCall?.[1]).toBeGreaterThan(480_000);
  request.release();
  expect(held.mock.lastCall?.[1]).toBe(0);
});
