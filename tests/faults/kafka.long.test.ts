import { findFreePort, startKafka } from '@taskmesh/local';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { atEnd, eventually, makeTempDir } from '@taskmesh/testing';

/** Longer than a publisher waits for its broker. */
const FROZEN_MS = 12_000;

it('an event log continues within seconds after its broker was frozen, and rejects in time meanwhile', async () => {
  const port = await findFreePort();
  const kafka = await startKafka({ dataDir: makeTempDir(), log: () => undefined, port });
  atEnd(kafka.stop);
  const log = createLog({ service: 'faults', level: 'silent' });
  const eventLog = createKafkaEventLog({ brokers: [`127.0.0.1:${port}`], clientId: 'faults', log });
  atEnd(eventLog.close);
  await eventLog.ensureTopic('faults', { partitions: 4 });
  const values: string[] = [];
  await eventLog.read('faults', ({ value }) => values.push(value)).ready();
  const publish = (value: string) => eventLog.publish('faults', [{ key: 'k', value }]);
  await publish('before');
  await eventually(() => values.includes('before'));
  kafka.kill('SIGSTOP');
  const frozen = performance.now();
  for (let begun = frozen; begun - frozen < FROZEN_MS; begun = performance.now()) {
    await expect(publish('meanwhile')).rejects.toThrow('did not confirm');
    expect(performance.now() - begun).toBeLessThan(10_000);
  }
  kafka.kill('SIGCONT');
  const thawed = performance.now();
  await eventually(() => publish('after').then(() => true));
  await eventually(() => values.includes('after'));
  expect(performance.now() - thawed).toBeLessThan(10_000);
}, 120_000);
