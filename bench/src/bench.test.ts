import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBareServer } from './bare/create-bare-server.ts';
import { cpuMsOfTrees } from './cpu/process-tree.ts';
import { median, quantile, summarise } from './figures.ts';
import { openConnections } from './load/connections.ts';
import { populate, TASKS_EACH } from './load/population.ts';
import { startLoad, type Load } from './load/start-load.ts';
import { measure, type Measured } from './measure.ts';
import { measureBesideLogins, type BesideLogins } from './measure-beside-logins.ts';
import { OPERATIONS } from './operations.ts';
import { requestOptions } from './options.ts';
import { publish } from './report/publish.ts';
import { describeRequests } from './report/requests.ts';
import { startBareOn } from './targets/bare.ts';
import type { Target } from './targets/target.ts';

const CONNECTIONS = 2;

describe('the benchmark at the bare server', () => {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-bench-'));
  let database: TestDatabase;
  let bare: Target;
  let load: Load;
  let measured: Measured[];
  let besideLogins: BesideLogins;

  beforeAll(async () => {
    database = await createTestDatabase('bench');
    bare = await startBareOn({ dataDir: dir, env: process.env, postgresUrl: database.url });
    load = await startLoad(join(dir, 'load.log'));
    const shared = { targets: [bare], load, signal: new AbortController().signal, log: () => undefined };
    const lengths = { rounds: 2, seconds: 0.2, warmUpSeconds: 0.05 };
    await load.populate('bare', bare.url, CONNECTIONS);
    measured = await measure({ ...shared, ...lengths, operations: OPERATIONS });
    besideLogins = await measureBesideLogins({ ...shared, ...lengths, target: 'bare' });
  }, 180_000);
  afterAll(async () => {
    await load.stop();
    await bare.stop();
    await database.drop();
    rmSync(dir, { recursive: true });
  });

  it('measures every operation in every round', () => {
    expect(measured.map(({ operation, rounds }) => [operation, rounds.length])).toEqual(
      OPERATIONS.map((operation) => [operation, 2]),
    );
    for (const { requests, p50Ms, p99Ms, perSecond } of measured) {
      expect(requests).toBeGreaterThan(0);
      expect(perSecond).toBeGreaterThan(0);
      expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
    }
  });

  it('counts the time of the server that answered', () => {
    const total = measured
      .flatMap(({ rounds }) => rounds)
      .reduce((sum, { cpuByRole, requests }) => sum + cpuByRole.server * requests, 0);
    expect(total).toBeGreaterThan(0);
  });

  it('measures lists alone and beside logins', () => {
    const { target, rounds, requests, alone, beside, ratio, loginsPerSecond } = besideLogins;
    expect([target, rounds.length]).toEqual(['bare', 2]);
    // 200 a second, 0.8 s of each kind, two rounds.
    expect(requests).toBe(200 * 0.8 * 2 * 2);
    expect(loginsPerSecond).toBeGreaterThan(0);
    for (const { p50Ms, p99Ms } of [alone, beside]) expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
    expect(ratio).toBeGreaterThan(0);
  });

  it('sent what it counted: a task for each create, a session for each login', async () => {
    const requestsOf = (name: string) => measured.find(({ operation }) => operation === name)?.requests ?? 0;
    const counts = await database.query(
      `select (select count(*)::int from tasks) as tasks, (select count(*)::int from changes where kind = 'UPDATE') as updates,
              (select count(*)::int from sessions) as sessions`,
    );
    const [{ tasks, updates, sessions } = {}] = counts;
    // Besides the rounds that count there are the warm-up and one look for each connection of a round.
    const looks = CONNECTIONS * 3;
    expect(tasks).toBeGreaterThanOrEqual(requestsOf('create') + looks + CONNECTIONS * TASKS_EACH);
    expect(updates).toBeGreaterThanOrEqual(requestsOf('update') + looks);
    expect(sessions).toBeGreaterThanOrEqual(requestsOf('login') + looks);
  });
});

describe('the load', () => {
  it('stops at an answer that is not right', async () => {
    const database = await createTestDatabase('bench_load');
    const app = await createBareServer(database.url);
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    try {
      const population = await populate(url, 1);
      const workload = { operation: 'list', protocol: 'rest' } as const;
      await (await openConnections(url, workload, population)).close();
      const [victim] = population.readers;
      await database.query('delete from tasks where id = $1', [victim?.taskIds[0]]);
      await expect(openConnections(url, workload, population)).rejects.toThrow('something unexpected');
      const forged = { ...population, readers: population.readers.map((reader) => ({ ...reader, token: 'none' })) };
      await expect(openConnections(url, workload, forged)).rejects.toThrow('answered 401');
    } finally {
      await app.close();
      await database.drop();
    }
  });
});

describe('the figures', () => {
  it('are medians and quantiles, between two values where need be', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(quantile([10, 20, 30], 0.99)).toBeCloseTo(29.8);
  });

  it('count the time of a process of one’s own', () => {
    const [before = 0] = cpuMsOfTrees([process.pid]);
    for (const end = process.cpuUsage().user + 60_000; process.cpuUsage().user < end;);
    const [after = 0] = cpuMsOfTrees([process.pid]);
    expect(after - before).toBeGreaterThanOrEqual(40);
  });

  it('stand between the markers of the README, beside the bare server', () => {
    const dir = mkdtempSync(join(tmpdir(), 'taskmesh-bench-'));
    const readme = join(dir, 'README.md');
    writeFileSync(readme, 'before\n<!-- figures: begin -->old<!-- figures: end -->\nafter\n');
    const cell = (target: 'bare' | 'embedded', cpuSum: number): Measured => ({
      ...{
        target,
        operation: 'get',
        protocol: 'rest',
        requests: 100,
        seconds: 0.1,
        perSecond: 1000,
        p50Ms: 1,
        p99Ms: 2,
      },
      cpuByPart: {},
      cpuByRole: { server: cpuSum / 4, inner: cpuSum / 4, postgres: cpuSum / 2, redis: 0, kafka: 0 },
      cpuSum,
      rounds: [],
    });
    const round = {
      requests: 800,
      alone: { p50Ms: 1, p99Ms: 4 },
      beside: { p50Ms: 2, p99Ms: 6 },
      ratio: 1.5,
      loginsPerSecond: 70.4,
    };
    const measured = [cell('bare', 0.1), cell('embedded', 0.25)];
    const machine = { system: 'Linux', processor: 'any', cores: 2, memoryGiB: 4, node: 'v24.0.0', postgres: '18.4' };
    const parameters = { connections: 32, rounds: 3, seconds: 3, warmUpSeconds: 2 };
    const report = { startedAt: '2030-01-02T03:04:05.000Z', machine, parameters };
    publish(readme, describeRequests({ ...report, measured, besideLogins: [] }));
    const text = readFileSync(readme, 'utf8');
    writeFileSync(readme, `${text}<!-- beside logins: begin --><!-- beside logins: end -->`);
    const besideLogins: BesideLogins[] = [{ target: 'embedded', ...round, rounds: [round] }];
    publish(readme, describeRequests({ ...report, measured: [], besideLogins }));
    const both = readFileSync(readme, 'utf8');
    expect(() => publish(readme, { nowhere: '' })).toThrow('has no place for nowhere');
    rmSync(dir, { recursive: true });
    expect(both.startsWith(text)).toBe(true);
    expect(both).toMatch(/50 parallel logins[^]*embedded \|.* 4.00 \|.* 6.00 \| +1.50 \| +70 \|/);
    expect(text).toMatch(/^before\n[^]*2030-01-02[^]*\nafter\n$/);
    expect(text).not.toContain('old');
    expect(text).toMatch(/embedded +\| REST +\| +0\.125 \| .*\| +2\.50 \|/);
  });

  it('are summed up over rounds, figure by figure', () => {
    const rounds = [1, 5, 2].map((ms) => ({ p50Ms: ms, cpu: { server: ms * 2 } }));
    expect(summarise(rounds)).toEqual({ p50Ms: 2, cpu: { server: 4 }, rounds });
  });
});

describe('the arguments', () => {
  it('choose operations and targets in their usual order', () => {
    const { operations, targets } = requestOptions.read(['--only', 'list,get', '--targets', 'embedded']);
    expect([operations, targets]).toEqual([['get', 'list'], ['embedded']]);
  });

  it('choose lists beside logins, alone or with the rest', () => {
    const { operations, besideLogins } = requestOptions.read(['--only', 'beside-logins']);
    expect([operations, besideLogins]).toEqual([[], true]);
    expect(requestOptions.read([])).toMatchObject({ operations: OPERATIONS, besideLogins: true });
    expect(requestOptions.read(['--only', 'get']).besideLogins).toBe(false);
  });

  it('say how long to warm up', () => {
    const lengths = [[], ['--quick'], ['--quick', '--warm-up', '7']].map(
      (args) => requestOptions.read(args).warmUpSeconds,
    );
    expect(lengths).toEqual([10, 0.3, 7]);
  });

  it.each([
    ['--only', 'lits'],
    ['--seconds', 'x'],
    ['--warm-up', '-1'],
    ['--rounds', '1.5'],
    ['--name', '../x'],
    ['--fast'],
  ])('refuse what makes no sense: %s %s', (...args: string[]) => {
    expect(() => requestOptions.read(args)).toThrow();
  });
});
