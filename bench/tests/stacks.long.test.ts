import { runBench } from './run-bench.ts';

jest.setTimeout(600_000);

it('compares requests of separate processes with those of the bare server', async () => {
  const { rows } = await runBench('--quick --targets bare,separate --only get --rounds 1');
  const [titles = [], ...cells] = rows;
  expect(cells.map(([, target, protocol]) => [target, protocol])).toEqual([
    ['bare', 'REST'],
    ['separate', 'REST'],
    ['separate', 'GraphQL'],
  ]);
  expect(Number(cells[1]?.[titles.indexOf('× bare')])).toBeGreaterThan(1);
});

it('delivers changes over every protocol, and compares gateways with a bare server that reads their Kafka', async () => {
  const { rows } = await runBench('feed --quick --loads personal --targets bare,separate --sockets 20 --seconds 0.5');
  expect(rows.slice(1).map(([target, over, since]) => `${target} ${over} ${since}`)).toEqual([
    ...['graphql-ws', 'SSE', 'multipart', 'channel'].map((over) => `separate ${over} commit`),
    ...['bare ws post', 'bare ws publish'],
  ]);
});

it('times backups and restores', async () => {
  const { rows } = await runBench('backup --rows 1000 --rounds 1');
  const ours = rows.filter(([, by]) => by === 'Taskmesh');
  expect(ours.map(([work]) => work)).toEqual(['dump and compress', 'load a dump', 'whole restore']);
  for (const [, , seconds] of ours) expect(Number(seconds)).toBeGreaterThan(0);
});

it('measures pages and CPU of every kind of request', async () => {
  const { report, rows } = await runBench('growth --quick --stores 6000');
  const costs = report.requests as { kind: string; pages: number; server: number }[];
  for (const { pages, server } of costs) for (const figure of [pages, server]) expect(figure).toBeGreaterThan(0);
  const [small, large] = costs.filter(({ kind }) => kind.startsWith('statistics'));
  expect(large?.pages).toBeGreaterThan(10 * (small?.pages ?? NaN));
  expect(rows).toHaveLength(1 + costs.length / 2);
});

it('measures the costs of work in each part of a stack, and predicts a mixed load', async () => {
  const { report, rows } = await runBench('scale --quick --gateways 1 --seconds 0.5 --sockets 20');
  const { cpuMs } = report.coefficients as { cpuMs: Record<string, Record<string, number>> };
  for (const kind of ['list', 'create', 'login']) expect(cpuMs[kind]?.gateway).toBeGreaterThan(0);
  expect(rows.filter(([, of]) => of === 'memory of a gateway')).toHaveLength(1);
});
