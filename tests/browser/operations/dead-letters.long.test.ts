import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { startStack, type Stack } from '@taskmesh/local';
import { createKafkaEventLog, type EventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { eventually, nodeEnvironment, ownInstallation } from '@taskmesh/testing';
import type { Browser } from 'playwright-core';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRest } from '../../support/http.ts';
import { newAccount } from '../../client/device.ts';
import { barriersIn } from '../console/axe.ts';
import { launchBrowser, visit } from '../console/browser.ts';
import { useConsole } from '../console/screen.ts';
import { useOperations, visitAsOperator } from './operator.ts';

const installation = ownInstallation();
const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-operations-'));
let stack: Stack;
let eventLog: EventLog;
let browser: Browser;

beforeAll(async () => {
  stack = await startStack({
    dataDir,
    env: { ...nodeEnvironment(), LOG_LEVEL: 'warn', ...installation },
    log: () => {},
  });
  const { KAFKA_BROKERS: brokers, KAFKA_TOPIC_PREFIX: topicPrefix } = installation;
  const log = createLog({ service: 'test', level: 'silent' });
  eventLog = createKafkaEventLog({ brokers: brokers.split(','), topicPrefix, clientId: 'somebody-else', log });
  browser = await launchBrowser();
}, 180_000);
afterAll(async () => {
  await browser.close();
  await eventLog.close();
  await stack.stop();
  rmSync(dataDir, { recursive: true });
}, 180_000);

it('an operator sees what no gateway could read, replays it and discards the rest, and the list of its owner continues', async () => {
  const [url = ''] = stack.urls;
  const account = newAccount();
  const somebody = await visit(browser, url);
  const { signUp, add, lists } = useConsole(somebody.page);
  await signUp(account);
  await add('read by everybody');
  await lists(['read by everybody']);
  const rest = createRest(url);
  const { body } = await rest<{ access_token: string; user: { id: string } }>('POST', '/auth/login', { body: account });
  // The list shows it before the server has it: what is not there yet could not be replayed.
  await eventually(async () => expect((await rest('GET', '/tasks', { token: body.access_token })).body.count).toBe(1));
  for (const value of ['{"sequence":1,"title":"<img src=x onerror=alert(1)>"}', 'nothing that is known'])
    await eventLog.publish(TASK_CHANGES_TOPIC, [{ key: body.user.id, value }]);

  const { page, problems, close } = await visitAsOperator(browser, url, stack.machineToken?.token ?? '');
  const { button, goTo, says } = useOperations(page);
  await says('2 dead letters wait for an operator.');
  await goTo('Dead letters');
  const letters = page.getByRole('list', { name: 'Dead letters' }).getByRole('listitem');
  await letters.nth(1).waitFor();
  await page.getByText('The record').first().click();
  await says('<img src=x onerror=alert(1)>');
  expect(await barriersIn(page)).toEqual([]);
  await button(/^Replay dead letter/).click();
  await says('The change is published again.');
  await letters.nth(1).waitFor({ state: 'detached' });
  await button(/^Discard dead letter/).click();
  await button('Discard it').click();
  await says('There are none: the feed delivers everything.');
  await add('the next one');
  await lists(['the next one', 'read by everybody']);
  expect([...problems, ...somebody.problems]).toEqual([]);
  await close();
  await somebody.close();
}, 180_000);

it('an operator sees within seconds that a service is down, and that it is back', async () => {
  const [url = ''] = stack.urls;
  const { page, close } = await visitAsOperator(browser, url, stack.machineToken?.token ?? '');
  const { says } = useOperations(page);
  await says('All is well');
  process.kill(stack.processes.get('backup')?.pid ?? 0, 'SIGSTOP');
  await says('The service backup does not answer.');
  await page.getByRole('region', { name: 'backup', exact: true }).getByText('Down').waitFor();
  process.kill(stack.processes.get('backup')?.pid ?? 0, 'SIGCONT');
  await says('All is well');
  await close();
});
