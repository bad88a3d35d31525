import type { Log } from '@taskmesh/service';
import { createSkewWarning } from './clock-skew.ts';

it('warns once a minute about tokens that are more than 30 s from the future', () => {
  const clock = { ms: 1_800_000_000_000, now: () => clock.ms };
  const warnings: unknown[] = [];
  const log = { warn: (fields: unknown) => warnings.push(fields) } as unknown as Log; // all that it calls
  const warn = createSkewWarning(clock, log);
  warn(undefined);
  warn(1_800_000_030);
  expect(warnings).toEqual([]);
  warn(1_800_000_031);
  warn(1_800_000_090);
  clock.ms += 60_000;
  warn(1_800_000_100);
  expect(warnings).toEqual([{ aheadSeconds: 31 }, { aheadSeconds: 40 }]);
});
