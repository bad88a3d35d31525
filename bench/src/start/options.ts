import { commonOptions, list, number, parseOptions } from '../arguments.ts';
import { PROTOCOLS } from '../feed/cells.ts';

const PARTS = ['starts', 'idle', 'subscribers'] as const;

export const START_HELP = `
npm run bench -- start [<options>]
How long the embedded platform takes until it is ready, what it has in memory when nothing happens, and how much each
subscriber adds.

  --quick            one start of each kind and few sockets: shows that it works, good for rough figures only
  --parts <list>     of ${PARTS.join(', ')} (default all)
  --only <list>      protocols of the subscribers: ${PROTOCOLS.join(', ')}
  --starts <n>       of each kind, of which the median counts (default 5, quick 1)
  --idle <n>         seconds after which an idle platform is looked at (default 30, quick 2)
  --sockets <a,b>    numbers of subscribers that are compared (default 100,5000, quick 10,200)
  --name <name>      of the file in bench/results (default: the time)
  --publish          also puts the tables into bench/README.md
`;

export type StartOptions = ReturnType<typeof readStartOptions>;

/** @throws UsageError */
export function readStartOptions(args: string[]) {
  const values = parseOptions(args, {
    texts: ['parts', 'only', 'starts', 'idle', 'sockets', 'name'],
    flags: ['quick', 'publish'],
  });
  const { quick = false } = values;
  const [few, many] = (values.sockets ?? (quick ? '10,200' : '100,5000')).split(',');
  const least = number('--sockets', few ?? '', { min: 1, max: 100_000, isWhole: true });
  return {
    parts: list('--parts', values.parts, PARTS),
    protocols: list('--only', values.only, PROTOCOLS),
    starts: number('--starts', values.starts ?? (quick ? '1' : '5'), { min: 1, max: 100, isWhole: true }),
    idleSeconds: number('--idle', values.idle ?? (quick ? '2' : '30'), { min: 0, max: 3_600 }),
    sockets: [least, number('--sockets', many ?? '', { min: least + 1, max: 100_000, isWhole: true })] as const,
    ...commonOptions(values),
  };
}
