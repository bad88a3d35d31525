import { stopPart } from '../machine/processes.ts';
import { prepareUsers } from '../feed/users.ts';
import { startTargets } from '../machine/targets.ts';
import type { Report, RunContext } from '../run/benchmark.ts';
import { amount, counts, defineOptions } from '../run/options.ts';
import { describeOrigin, digits, table } from '../run/report.ts';
import { createTasks, growTo, measureRequests, type RequestCost } from './requests.ts';

const ABOUT = `
Checks whether the cost of requests stays the same as data grows: pages and CPU per request for owners of 50, 10,000 and
50,000 tasks in databases of growing size. For sockets, compare runs of the feed with few and many (--sockets).
`;
const options = defineOptions('growth', ABOUT, {
  owners: counts('tasks of each owner', [50, 10_000, 50_000], [50, 5_000], 1_000_000),
  stores: counts('tasks in the database; 10000000 take about 8 GB', [200_000, 1_000_000], [20_000], 20_000_000),
  seconds: amount('of requests of one kind', [0.8, 0.2]),
});
type Options = ReturnType<typeof options.read>;

/** Measures requests of small and large owners in a growing store. */
async function run({ owners: sizes, stores, seconds, ...context }: Options & RunContext) {
  const { dataDir, log, signal } = context;
  await using closers = new AsyncDisposableStack();
  const { env, createUsers } = await prepareUsers(dataDir, context.env, 1);
  const settings = { ...env, MAX_TASKS_PER_OWNER: '0' }; // the largest owner creates more
  const { targets } = closers.adopt(await startTargets(['embedded'], { ...context, env: settings }), stopPart);
  const requests: RequestCost[] = [];
  for (const target of targets) {
    const { tasksDatabase = '' } = target.sources;
    log('Tasks of small and large owners …');
    const owners = await createTasks(tasksDatabase, await createUsers(sizes.length), sizes);
    for (const store of stores.toSorted((one, other) => one - other)) {
      log(`A store of ${store} tasks …`);
      await growTo(tasksDatabase, store);
      requests.push(...(await measureRequests(target, owners, { store, seconds, signal })));
    }
  }
  return { postgres: targets[0]?.postgres, requests };
}

/** Shows pages and CPU of each kind of request, by owner and store. */
function describe({ requests, ...report }: Report<Options, Awaited<ReturnType<typeof run>>>): Record<string, string> {
  const method = `pages of tasks, feeds and their keys that are read · CPU-ms of server and PostgreSQL, per request · requests one after the other, ${report.parameters.seconds} s of each`;
  const format = (tasks: number) => tasks.toLocaleString('en');
  const cells = Map.groupBy(requests, ({ owner, store }) => `${format(owner)} of ${format(store)}`);
  const columns = [...cells].map(([title, costs]) => {
    const formatCost = ({ pages, server, postgres }: RequestCost) => `${digits(pages)} · ${digits(server + postgres)}`;
    const cell = (kind: string) => costs.filter((cost) => cost.kind === kind).map(formatCost)[0] ?? '';
    return [title, cell] as const;
  });
  const kinds = [...new Set(requests.map(({ kind }) => kind))];
  const figures = table(kinds, { request: (kind) => kind }, Object.fromEntries(columns));
  return { 'growth figures': `${describeOrigin(report, method)}\n\n${figures}` };
}

export const growth = { options, run, describe };
