import { createLog } from '@taskmesh/service';
import { DEFAULT_SIZES } from '../archives/limits.ts';
import { newRestore } from './restore-stores.ts';
import type { Restore } from './restore.entities.ts';
import { exchangeStores, type Exchange, type ExchangeDeps } from './swap-stores.ts';
import { DEFAULT_TIMEOUTS } from '../stall-detection.ts';
import { loadLimits } from './watch-database.ts';

const NOW = new Date('2026-11-22T12:00:00Z');

/** Exchanges no stores at all, to test the order of the steps and the effect on the journal. */
function createTrial(journal: Partial<ExchangeDeps['journal']> = {}) {
  const steps: string[] = [];
  const messages: string[] = [];
  let line: Restore | undefined;
  const write = (text: string) => messages.push((JSON.parse(text) as { msg: string }).msg);
  const deps: ExchangeDeps = {
    stores: {} as ExchangeDeps['stores'],
    acceptsNewerSchema: false,
    keepOldMs: 0,
    loadLimits: loadLimits(DEFAULT_SIZES),
    timeouts: DEFAULT_TIMEOUTS,
    now: () => NOW,
    log: createLog({ service: 'test', level: 'warn', destination: { write } }),
    onUnsettled: () => void steps.push('unsettled'),
    journal: {
      begin: async (restore: Restore) => void ((line = restore), steps.push('begin')),
      find: async () => line,
      reach: async (_id: string, values: Partial<Restore>) => void Object.assign(line ?? {}, values),
      end: async (_: Restore, { stage, leftUntil }: Pick<Restore, 'stage' | 'leftUntil'>) =>
        void (Object.assign(line ?? {}, { stage, leftUntil }), steps.push(stage)),
      leftNothing: async () => void steps.push('left nothing'),
      ...journal,
    } as ExchangeDeps['journal'],
  };
  const exchange = (more: Partial<Exchange> = {}) =>
    exchangeStores(deps, {
      restore: newRestore(deps, { id: 'r', file: 'a.tar.gz', stores: [] }),
      prepare: async () => void steps.push('prepare'),
      mayContinue: async () => (steps.push('ask'), true),
      onProgress: ({ phase }) => void steps.push(phase),
      ...more,
    });
  return { steps, messages, exchange };
}

describe('an exchange of stores', () => {
  it('fails if the servers show that nothing was replaced', async () => {
    const { steps, exchange } = createTrial();
    await expect(exchange()).rejects.toThrow('The restore was undone.');
    expect(steps).toEqual(['begin', 'prepare', 'ask', 'swap', 'undone', 'left nothing', 'unsettled']);
  });

  it('succeeds if another process settled it as restored, even if it failed here', async () => {
    const { messages, exchange } = createTrial({ find: async () => ({ stage: 'restored', stores: [] }) as never });
    const prepare = () => Promise.reject(new Error('the connection was lost'));
    expect(await exchange({ prepare })).toMatchObject({ isCleanUpPending: false });
    expect(messages).toEqual(['the stores were replaced all the same']);
  });

  it('reports a pending clean-up if the journal cannot be read after the restore', async () => {
    let looks = 0;
    const restored = { stage: 'restored', stores: [] } as never;
    const { messages, exchange } = createTrial({
      find: () => (looks++ === 0 ? Promise.resolve(restored) : Promise.reject(new Error('away'))),
    });
    expect(await exchange()).toEqual({ isCleanUpPending: true });
    expect(messages).toEqual(['databases of an ended restore not removed yet']);
  });

  it('succeeds with a pending clean-up if the outcome cannot be read after the swap', async () => {
    const { steps, exchange } = createTrial({ find: () => Promise.reject(new Error('away')) });
    expect(await exchange()).toEqual({ isCleanUpPending: true });
    expect(steps.at(-1)).toBe('unsettled');
  });
});
