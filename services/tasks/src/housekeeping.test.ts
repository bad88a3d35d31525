import { createLog } from '@taskmesh/service';
import { createHousekeeping } from './housekeeping.ts';

it('stops after the current batch', async () => {
  let batches = 0;
  const forgetBatch = async () => {
    batches++;
    await new Promise(setImmediate);
    return 2_000;
  };
  const housekeeping = createHousekeeping({
    feeds: {
      forgetChanges: async (_retentionMs, last, lookedAt) => {
        const count = await forgetBatch();
        return { last, lookedAt, areRecent: false, kept: [], count };
      },
      forgetSurplus: forgetBatch,
    },
    tasks: { forgetExpiredKeys: forgetBatch, forgetSurplusKeys: forgetBatch },
    changeRetentionMs: 0,
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
  });
  const sweeping = housekeeping.sweep();
  await housekeeping.stop();
  await sweeping;
  expect(batches).toBe(1);
});

it('completes the other steps when one fails, and reports the failure', async () => {
  const forgotten: string[] = [];
  const forget = (what: string) => async () => {
    forgotten.push(what);
    return 1;
  };
  const { sweep } = createHousekeeping({
    feeds: {
      forgetChanges: async () => undefined,
      forgetSurplus: async () => {
        throw new Error('takes too long');
      },
    },
    tasks: { forgetExpiredKeys: forget('expired keys'), forgetSurplusKeys: forget('surplus keys') },
    changeRetentionMs: 0,
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
  });
  await expect(sweep()).rejects.toThrow('takes too long');
  expect(forgotten).toEqual(['expired keys', 'surplus keys']);
});
