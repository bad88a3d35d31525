import { amount, count, defineOptions, flag, list, NAME, option, PUBLISH, wholeNumber } from '../arguments.ts';
import { PROTOCOLS } from '../feed/cells.ts';

const MOST_SOCKETS = 100_000;
const SOCKETS = '--sockets <a,b>';

const ABOUT = `
How long the embedded platform takes until it is ready, what it has in memory when nothing happens, and how much each
subscriber adds.
`;

export const startOptions = defineOptions('npm run bench -- start', ABOUT, {
  quick: flag('--quick', 'one start of each kind and few sockets: shows that it works, good for rough figures only'),
  parts: list('--parts <list>', 'parts', ['starts', 'idle', 'subscribers']),
  protocols: list('--only <list>', 'protocols of the subscribers', PROTOCOLS),
  starts: count('--starts <n>', 'of each kind, of which the median counts', ['5', '1']),
  idleSeconds: amount('--idle <n>', 'seconds after which an idle platform is looked at', ['30', '2'], {
    min: 0,
    max: 3_600,
  }),
  sockets: option(SOCKETS, 'numbers of subscribers that are compared', ['100,5000', '10,200'], (text) => {
    const [few = '', many = ''] = text.split(',');
    const least = wholeNumber(SOCKETS, few, { max: MOST_SOCKETS });
    return [least, wholeNumber(SOCKETS, many, { min: least + 1, max: MOST_SOCKETS })] as const;
  }),
  name: NAME,
  publish: PUBLISH,
});
export type StartOptions = ReturnType<typeof startOptions.read>;
