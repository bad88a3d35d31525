import { atEnd, listen } from '@taskmesh/testing';
import { jest } from '@jest/globals';

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { clientSettings } from './config.ts';
import { createLibraryLogger, patchIdleTimer } from './library.ts';
import { createNode } from './node.ts';
import { SILENT } from '../testing/event-log.contract.ts';

const HOUR_MS = 3_600_000;

it('gives up a silent broker even if the clock is set back meanwhile', async () => {
  patchIdleTimer();
  const server = createServer();
  const { port } = await listen(server);
  jest.useFakeTimers();
  const logger = createLibraryLogger(SILENT);
  const settings = clientSettings({ brokers: [] }, 'node-under-test');
  const node = createNode({ address: { host: '127.0.0.1', port }, settings, logger });
  atEnd(() => node.close());
  atEnd(() => jest.useRealTimers());
  let failure: unknown;
  const asked = node.metadata('topic').catch((error: unknown) => (failure = error));
  const [socket] = (await once(server, 'connection')) as [Socket];
  await once(socket, 'data');
  jest.setSystemTime(Date.now() - HOUR_MS);
  await jest.advanceTimersByTimeAsync(20_000);
  expect(failure).toMatchObject({ message: 'No response within 10000 ms.' });
  await asked;
});
