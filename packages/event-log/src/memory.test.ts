import { eventually } from '@taskmesh/testing';
import { describeEventLog } from './testing/event-log.contract.ts';
import { createMemoryEventLog } from './memory.ts';

describeEventLog('memory', () => createMemoryEventLog());

it.each([
  ['a thousand records', 1_100, 5, 1_000],
  ['8 MiB', 100, 100_000, 83],
])(
  'a reader that takes long for the records of one key gets those of other keys in between, and loses the oldest of that key beyond %s',
  async (_limit, last, length, kept) => {
    const eventLog = createMemoryEventLog();
    const seen: string[] = [];
    eventLog.read('topic', ({ key, value }) => {
      seen.push(`${key} ${value.trim()}`);
      const until = performance.now() + 12;
      while (seen.length < 20 && performance.now() < until);
    });
    const records = Array.from({ length: last }, (_, at) => ({ key: 'slow', value: `${at + 1}`.padEnd(length) }));
    await eventLog.publish('topic', records);
    await eventually(() => expect(seen.length).toBeGreaterThan(0));
    await eventLog.publish('topic', [{ key: 'other', value: '1' }]);
    await eventually(() => expect(seen).toContain(`slow ${last}`));
    expect(seen.indexOf('other 1')).toBeLessThan(20);
    expect(seen.slice(0, 1)).toEqual([`slow ${last - kept + 1}`]);
    expect(seen).toHaveLength(kept + 1);
  },
);

it('loses the only record of a key that comes while 16 MiB wait', async () => {
  const eventLog = createMemoryEventLog();
  const seen: string[] = [];
  eventLog.read('topic', ({ key }) => void seen.push(key));
  const value = ' '.repeat(4 * 1024 * 1024);
  await eventLog.publish(
    'topic',
    [...'abcde'].map((key) => ({ key, value })),
  );
  await eventually(() => expect(seen).toEqual([...'abc']));
});
