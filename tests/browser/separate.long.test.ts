import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { eventually, ownInstallation } from '@taskmesh/testing';
import { logIn } from '../http.ts';
import { useStack } from '../stack.ts';
import { barriersIn } from './console/axe.ts';
import { useBrowser } from './console/use-platform.ts';
import { signInAsOperator, useOperations } from './operations/operator.ts';

const installation = ownInstallation();
const running = useStack('console', () => ({ env: installation }));
const { open } = useBrowser(() => running.stack.urls[0] ?? '');
const openAsOperator = async () => {
  const { page } = await open({}, `${running.stack.urls[0]}/#/operations`);
  await signInAsOperator(page, running.stack.machineToken?.token ?? '');
  return { page, ...useOperations(page) };
};

it('the console of a gateway in front of separate processes shows an operator the records that no gateway could read, replays one, discards the rest, and the owner’s list continues', async () => {
  const { signUp, add, lists } = await open();
  const owner = await logIn(running.stack.urls[0] ?? '', await signUp());
  await add('read by everybody');
  await lists(['read by everybody']);
  // Waits for the server, because the list shows the task earlier and an unknown change cannot be replayed.
  await eventually(async () => expect(await owner.titles()).toHaveLength(1));
  const { KAFKA_BROKERS: brokers, KAFKA_TOPIC_PREFIX: topicPrefix } = installation;
  const log = createLog({ service: 'test', level: 'silent' });
  const eventLog = createKafkaEventLog({ brokers: brokers.split(','), topicPrefix, clientId: 'somebody-else', log });
  for (const value of ['{"sequence":1,"title":"<img src=x onerror=alert(1)>"}', 'nothing that is known'])
    await eventLog.publish(TASK_CHANGES_TOPIC, [{ key: owner.id, value }]);
  await eventLog.close();

  const { page, button, goTo, says } = await openAsOperator();
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
});
