import { createGraphql, createRest } from '../../http.ts';
import type { Account, Case } from './case.ts';
import { startMeasuredProduct, type MeasuredProduct, type Usage } from './measured-product.ts';

/** The budget of one request, on a machine where reading a task takes `READ_MS`. */
export const BUDGETS = {
  stranger: { cpuMs: 100, pauseMs: 50 },
  account: { cpuMs: 250, pauseMs: 50 },
  operator: { cpuMs: 1_000, pauseMs: 50 },
} as const;
const READ_MS = 0.08;
/** The memory limit of a gateway in a cluster: charts/taskmesh/values.yaml. */
export const MEMORY_LIMIT_MIB = 768;
/** The cache of documents may hold 32 MiB; other caches are small. */
export const KEPT_MIB = 40;
export const CROWD = 200;

const TASKS = 1_000;
const ALIASES = 25;
const PASSWORD = 'a long and winding phrase';

/** The product, the account that the cases use, and how much slower this machine is than the one of the budgets. */
export type Measuring = Awaited<ReturnType<typeof startMeasuring>>;

export async function startMeasuring() {
  const product = await startMeasuredProduct();
  const account = await createAccount(product);
  return { product, account, slowness: await measureSlowness(product, account) };
}

async function createAccount({ url }: MeasuredProduct): Promise<Account> {
  const rest = createRest(url);
  const body = { email: 'limits@example.com', password: PASSWORD, name: 'Limits' };
  const { access_token: token } = (await rest<{ access_token: string }>('POST', '/auth/signup', { body })).body;
  const create = Array.from({ length: ALIASES }, (_, at) => `t${at}: createTask(input: $input) { id }`).join(' ');
  const query = `mutation($input: CreateTaskInput!) { ${create} }`;
  const input = { title: 'A task of the longest text', description: '😀'.repeat(2_000), category: 'limits' };
  for (let count = 1; count < TASKS; count += ALIASES) await createGraphql(url)(query, { token, variables: { input } });
  const plain = await rest<{ data: { id: string } }>('POST', '/tasks', { token, body: { title: 'A plain task' } });
  return { token, taskId: plain.body.data.id };
}

const WARM_UP = 2_000;
const BATCHES = 5;
const BATCH = 200;
const AT_ONCE = 20;

/** Compares this machine by the CPU time of a plain read. */
async function measureSlowness(product: MeasuredProduct, { token, taskId }: Account): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const read = async (count: number) => {
    for (let sent = 0; sent < count; sent += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, () => product.send(`/api/tasks/${taskId}`, { headers })));
  };
  await read(WARM_UP);
  const costs: number[] = [];
  for (let batch = 0; batch < BATCHES; batch++) {
    const before = await product.cpuMs();
    await read(BATCH);
    costs.push(((await product.cpuMs()) - before) / BATCH);
  }
  return Math.min(...costs) / READ_MS;
}

export interface Measured extends Usage {
  outcome: string;
}

const TRIES = 3;
let turn = 0;

/** Measures one request. Repeats it if it exceeds its budget, because other work on the machine can only add to its cost. */
export async function measureCase(
  { product, account, slowness }: Measuring,
  { by, send, requests = 1 }: Case,
): Promise<Measured> {
  let best: Measured | undefined;
  for (let tries = 0; tries < TRIES; tries++) {
    let outcome = '';
    const run = await product.measure(async () => (outcome = await send(product, account, ++turn)));
    best = {
      outcome,
      cpuMs: Math.min(run.cpuMs / requests / slowness, best?.cpuMs ?? Infinity),
      pauseMs: Math.min(run.pauseMs / slowness, best?.pauseMs ?? Infinity),
      privateMib: Math.max(run.privateMib, best?.privateMib ?? 0),
    };
    if (best.cpuMs <= BUDGETS[by].cpuMs && best.pauseMs <= BUDGETS[by].pauseMs) return best;
  }
  return best as Measured; // there is at least one try
}

/** Measures many simultaneous requests. `outcomes`: the number of responses by outcome. */
export async function measureCrowd({ product, account, slowness }: Measuring, { send }: Case) {
  const outcomes: Record<string, number> = {};
  const sendOne = async () => {
    const outcome = await send(product, account, ++turn).catch(String);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  const crowd = () => Promise.all(Array.from({ length: CROWD }, sendOne));
  const { cpuMs, pauseMs, privateMib } = await product.measure(crowd);
  return { cpuMs: cpuMs / slowness, pauseMs: pauseMs / slowness, privateMib, outcomes };
}
