import { createLog } from '@taskmesh/service';
import { createHousekeeping } from './housekeeping.ts';

it('completes the other steps when one fails, also for other owners, and reports the failures; reads the keys of few owners at a time', async () => {
  const forgotten: string[] = [];
  const owners = Array.from({ length: 45 }, (_, n) => `owner ${n}`);
  const asked: string[][] = [];
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
    tasks: {
      forgetExpiredKeys: forget('expired keys'),
      ownersWithKeys: async () => [...owners],
      async forgetSurplusKeys(some, limit) {
        asked.push(some);
        if (asked.length === 3) throw new Error('is locked');
        return asked.length === 1 ? limit : 0;
      },
    },
    changeRetentionMs: 0,
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
  });
  await expect(sweep()).rejects.toThrow('takes too long; Error: is locked');
  expect(forgotten).toEqual(['expired keys']);
  expect([asked[1], asked.map(({ length }) => length)]).toEqual([asked[0], [20, 20, 20, 5]]);
  expect(asked.slice(1).flat()).toEqual(owners);
});
