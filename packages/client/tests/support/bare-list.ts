import type { Post } from '../../src/http.ts';
import { createLiveTasks, type LiveTasksDeps, type LiveTasksOptions } from '../../src/list/live-tasks.ts';
import { createManualTime } from './manual-time.ts';

interface BareListDeps extends Partial<Pick<LiveTasksDeps, 'openFeed' | 'time'>> {
  session: Partial<LiveTasksDeps['session']>;
  hold?: LiveTasksDeps['writes']['hold'];
}

/** A list without a client: its user is and stays signed in, its feed stands at once, and nothing is written. */
export function createBareList(
  options: LiveTasksOptions,
  { session, hold = () => () => undefined, ...deps }: BareListDeps,
) {
  return createLiveTasks(options, {
    session: {
      user: () => ({ id: 'ada', email: '', name: '' }),
      subscribe: () => () => undefined,
      request: (() => Promise.reject(new Error('nothing is read'))) as Post,
      refresh: async () => 'fresh',
      ...session,
    },
    writes: {
      pending: () => [],
      subscribe: () => () => undefined,
      confirm: () => undefined,
      wake: () => undefined,
      hold,
    },
    openFeed(_variables, listener) {
      listener.onStanding();
      return () => undefined;
    },
    time: createManualTime(),
    onWake: () => () => undefined,
    ...deps,
  });
}
