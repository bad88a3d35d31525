import { PublishError, type LogRecord } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { announceEpoch } from './announce-epoch.ts';

async function announce(onTry: (records: LogRecord[], tries: number) => void, isCurrent = () => true) {
  const tries: LogRecord[][] = [];
  const pauses: number[] = [];
  const logged: unknown[] = [];
  const write = (line: string) => logged.push(JSON.parse(line));
  await announceEpoch(7, {
    eventLog: {
      async publish(topic, records) {
        expect(topic).toBe('taskmesh.tasks.changes');
        tries.push(records);
        onTry(records, tries.length);
      },
    },
    log: createLog({ service: 'test', level: 'info', destination: { write } }),
    pause: async (ms) => void pauses.push(ms),
    isCurrent,
  });
  return { tries, pauses, logged };
}

const away = () => {
  throw new Error('away');
};

describe('the epoch of a store', () => {
  it('is announced once on every partition', async () => {
    const { tries, pauses, logged } = await announce(() => undefined);
    const all = Array.from({ length: 8 }, (_, partition) => ({ key: 'epoch', value: '{"epoch":7}', partition }));
    expect([tries, pauses, logged]).toEqual([[all], [], []]);
  });

  it('is announced again where it was not taken, and only there', async () => {
    const { tries, pauses } = await announce((records, count) => {
      if (count === 1) throw new PublishError(new Map(records.slice(3, 5).map((record) => [record, new Error('no')])));
    });
    expect(tries[1]?.map(({ partition }) => partition)).toEqual([3, 4]);
    expect([tries.length, pauses]).toEqual([2, [500]]);
  });

  it('is given up after a while, which is logged: gateways find it by themselves', async () => {
    const { tries, pauses, logged } = await announce(away);
    expect(tries.map(({ length }) => length)).toEqual(Array(10).fill(8));
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 15_000]);
    expect(logged).toEqual([expect.objectContaining({ epoch: 7, err: expect.objectContaining({ message: 'away' }) })]);
  });

  it('is not announced any more when it is no longer ours', async () => {
    let asked = 0;
    const { tries } = await announce(away, () => ++asked < 3);
    expect(tries).toHaveLength(2);
  });
});
