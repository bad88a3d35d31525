import { temporaryDir } from '@taskmesh/local-servers/testing';
import { listen } from '@taskmesh/testing';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJestResult } from './run-tests.ts';
import { runNode } from './steps.ts';

const dir = temporaryDir('jest');

it.each([
  ['is reported unchanged', [7, 2, 0], [7, 2]],
  ['counts a file that could not run as a failure', [7, 0, 1], [7, 1]],
  ['is a failure if no test ran', [0, 0, 0], [0, 1]],
  ['is a failure if it is incomplete', '{"numPassed', [0, 1]],
  ['is a failure if it is missing', undefined, [0, 1]],
])('the result of Jest %s', (what, result, [passed, failed]) => {
  const file = join(dir, `${what}.json`);
  if (Array.isArray(result)) {
    const [numPassedTests, numFailedTests, numRuntimeErrorTestSuites] = result;
    const testResults = [1, 3, 2].map((s) => ({ name: `${s}.test.ts`, startTime: 0, endTime: s * 1_000 }));
    writeFileSync(file, JSON.stringify({ numPassedTests, numFailedTests, numRuntimeErrorTestSuites, testResults }));
  } else if (result !== undefined) writeFileSync(file, result);
  const slowest = ['3', '2', '1'].map((seconds) => `           ${seconds}.0 s  ${seconds}.test.ts`);
  expect(readJestResult(file)).toEqual({ passed, failed, slowest: Array.isArray(result) ? slowest : [] });
});

it('a stopped step ends all processes that it has started, and their children', async () => {
  const server = createServer();
  const { port } = await listen(server); // a process that still runs at the end of the test ends with its connection
  const connects = `require('net').connect(${port}, '127.0.0.1')`;
  const starts = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(connects)}])`;
  const stop = new AbortController();
  const run = runNode(['-e', starts], { signal: stop.signal });
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.on('error', () => undefined).resume();
  const closed = once(socket, 'close').then(() => 'ended');
  stop.abort();
  expect(await run).toBe(false);
  expect(await Promise.race([closed, sleep(5_000, 'goes on', { ref: false })])).toBe('ended');
});
