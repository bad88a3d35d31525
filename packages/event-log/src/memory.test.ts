import { eventually } from '@taskmesh/testing';
import { describeEventLog } from './testing/event-log.contract.ts';
import { createMemoryEventLog } from './memory.ts';

describeEventLog('memory', () => createMemoryEventLog());

describe('a reader that takes long for the records of one key', () => {
  const eventLog = createMemoryEventLog();
  const seen: string[] = [];
  eventLog.read('topic', ({ key, value }) => {
    seen.push(`${key} ${value.slice(0, 4)}`);
    const until = performance.now() + 15;
    while (key === 'slow' && performance.now() < until);
  });
  const publish = (key: string, value: string) => eventLog.publish('topic', [{ key, value }]);

  it('gets those of other keys in between, and loses the oldest of that key beyond a million characters', async () => {
    for (let number = 1001; number <= 1100; number++) await publish('slow', `${number}${'x'.repeat(50_000)}`);
    await eventually(() => expect(seen).toContain('slow 1081')); // 20 fit
    await publish('other', 'one');
    await eventually(() => expect(seen).toContain('other one'));
    expect(seen.indexOf('other one')).toBeLessThan(6);
    await eventually(() => expect(seen).toContain('slow 1100'));
    expect(seen.filter((record) => record.startsWith('slow'))).toHaveLength(20);
  });
});
