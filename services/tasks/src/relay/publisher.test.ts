import type { LogRecord } from '@taskmesh/event-log';
import { createPublisher } from './publisher.ts';
import type { ReadChange } from './relay.repository.ts';

const TIME = '2026-11-20 10:00:00+00';

function change(id: number, owner: string): ReadChange {
  const task = {
    id: `t${id}`,
    user_id: owner,
    title: 'x',
    description: null,
    completed: false,
    due_date: null,
    category: null,
    priority: 'low',
    created_at: TIME,
    updated_at: TIME,
    version: 1,
  };
  return {
    id: String(id),
    owner_id: owner,
    sequence: String(id),
    kind: 'INSERT',
    task: JSON.stringify(task),
    previous: null,
    occurred_at: TIME,
    traceparent: null,
    part: 0,
    epoch: 1,
  };
}

function createLog() {
  const sent: LogRecord[] = [];
  const eventLog = { publish: async (_topic: string, records: LogRecord[]) => void sent.push(...records) };
  return { sent, eventLog };
}

describe('the publisher', () => {
  it('rejects a change that cannot be encoded, holds back later changes of its owner, and sends the rest', async () => {
    const { sent, eventLog } = createLog();
    const publisher = createPublisher(eventLog, { seal: async () => 'cursor' });
    const broken = { ...change(1, 'a'), task: '{' };
    const { published, refused } = await publisher.publish([change(0, 'a'), broken, change(2, 'b'), change(3, 'a')]);
    expect(sent.map(({ value }) => JSON.parse(value).id)).toEqual(['0', '2']);
    expect([published.map(({ id }) => id), refused.map(({ item }) => item.id)]).toEqual([['0', '2'], ['1']]);
  });

  it('refuses nothing while cursors cannot be made', async () => {
    const publisher = createPublisher(createLog().eventLog, { seal: () => Promise.reject(new Error('no database')) });
    await expect(publisher.publish([change(1, 'a')])).rejects.toThrow('no database');
  });

  it('gives each record the cursor of its position, and the trace of its request if there is one', async () => {
    const { sent, eventLog } = createLog();
    const seal = async (owner: string, place: object) => `${owner} ${JSON.stringify(place)}`;
    const publisher = createPublisher(eventLog, { seal });
    await publisher.publish([{ ...change(1, 'a'), traceparent: '00-1-2-01' }, change(2, 'b')]);
    expect(sent.map(({ key, headers }) => [key, headers])).toEqual([
      ['a', { traceparent: '00-1-2-01' }],
      ['b', undefined],
    ]);
    expect(JSON.parse(sent[0]?.value ?? '').cursor).toBe('a {"epoch":1,"sequence":1}');
  });
});
