import { readdirSync } from 'node:fs';
import { OPERATIONS } from '../src/load/calls.ts';
import { runBench } from './run-bench.ts';

jest.setTimeout(600_000);

it('measures every operation, and lists during logins, and compares separate processes with the bare server', async () => {
  const { report, rows } = await runBench('--quick --targets bare,separate --connections 2 --seconds 0.2 --rounds 2');
  const cells = ['bare rest', 'separate rest', 'separate graphql'];
  const measured = report.measured.map(({ operation, target, protocol }) => `${operation}: ${target} ${protocol}`);
  expect(measured).toEqual(OPERATIONS.flatMap((operation) => cells.map((cell) => `${operation}: ${cell}`)));
  for (const { requests: sent, p50Ms, cpuSum, rounds } of report.measured) {
    for (const figure of [sent, p50Ms, cpuSum]) expect(figure).toBeGreaterThan(0);
    expect(rounds).toHaveLength(2);
  }
  // 200 requests per second, for 0.8 s of each kind, in two rounds.
  const ofEach = { requests: 200 * 0.8 * 2 * 2 };
  expect(report.besideLogins).toMatchObject(['bare', 'separate'].map((target) => ({ target, ...ofEach })));
  expect(rows.slice(-2).map(([target]) => target)).toEqual(['bare', 'separate']);
  const [titles = [], , separate] = rows;
  expect(Number(separate?.[titles.indexOf('× bare')])).toBeGreaterThan(1);
});

it('counts every message over every protocol, and compares gateways with a bare server that reads their Kafka', async () => {
  const { report, rows } = await runBench('feed --quick --targets bare,separate --sockets 20 --seconds 0.5');
  const cells = [
    ...['graphql-ws', 'SSE', 'multipart', 'channel'].map((over) => `separate ${over} commit`),
    ...['bare ws post', 'bare ws publish'],
  ];
  const ofTables = rows.filter(([target]) => target !== 'target');
  expect(ofTables.map(([target, over, since]) => `${target} ${over} ${since}`)).toEqual([...cells, ...cells]);
  for (const { load, changes, messages, p50Ms, bytesPerSocket } of report.measured) {
    expect(messages).toBe(Number(changes) * (load === 'fan-out' ? 20 : 1)); // all twenty sockets have the same owner
    expect(p50Ms).toBeGreaterThan(0);
    expect(bytesPerSocket).toEqual(expect.any(Number));
  }
});

it('compares gateways, counts their requests to services, and shows where their time goes', async () => {
  const line = 'gateway --quick --targets taskmesh,apollo-undici --seconds 0.2 --connections 2 --profile';
  const { report, rows, stdout } = await runBench(line);
  const ofApollo = report.measured.filter(({ engine }) => engine === 'apollo-undici');
  expect(ofApollo.map(({ calls }) => Math.round(Number(calls)))).toEqual([1, 4, 16]);
  for (const { cpuMs, peakMiB } of report.measured)
    for (const figure of [cpuMs, peakMiB]) expect(figure).toBeGreaterThan(0);
  expect(rows).toHaveLength(1 + 3 * 2);
  const [, profiles = ''] = /^CPU profiles: (.*)$/m.exec(stdout) ?? [];
  expect(readdirSync(profiles).filter((file) => file.endsWith('.cpuprofile')).length).toBeGreaterThan(1);
});

it('times backups and restores, and measures pages and CPU of every kind of request', async () => {
  const { rows: timed } = await runBench('backup --rows 1000 --rounds 1');
  const ours = timed.filter(([, by]) => by === 'Taskmesh');
  expect(ours.map(([work]) => work)).toEqual(['dump and compress', 'load a dump', 'whole restore']);
  for (const [, , seconds] of ours) expect(Number(seconds)).toBeGreaterThan(0);
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
