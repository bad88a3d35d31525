import { startEmbedded } from '@taskmesh/all-in-one';
import { setV8Flags } from '@taskmesh/service';
import { answerCalls } from '../processes/calls.ts';

// The platform as `npm start` has it, except that the benchmark draws which requests are recorded.
setV8Flags();
let share = 0;

const calls = {
  /** Returns its address. */
  async start() {
    const random = () => (Math.random() < share ? 0 : 1);
    const { url } = await startEmbedded({ env: process.env, progress: () => undefined, random });
    return url;
  },
  /** Records this share of the requests from now on. */
  async record(wanted: number) {
    share = wanted;
  },
};
export type PlatformCalls = typeof calls;
answerCalls(calls);
