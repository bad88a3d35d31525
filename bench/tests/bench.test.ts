import { UsageError } from '@taskmesh/local';
import { atEnd, createTestDatabase, makeTempDir, type TestDatabase } from '@taskmesh/testing';
import { fastify } from 'fastify';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { backup } from '../src/backup/backup.ts';
import { createBareServer } from '../src/bare/server.ts';
import { feed } from '../src/feed/feed.ts';
import { openGatewayConnections } from '../src/gateway/load.ts';
import { growth } from '../src/growth/growth.ts';
import { TASKS_EACH } from '../src/load/calls.ts';
import { openConnections, populate, type Population } from '../src/load/connections.ts';
import { cpuMsOf } from '../src/machine/cpu.ts';
import { requests } from '../src/requests.ts';
import { measureInRounds, median, quantile, summarise } from '../src/run/figures.ts';
import { describeMachine, publish, table } from '../src/run/report.ts';

describe('the load', () => {
  let database: TestDatabase;
  let url: string;
  let population: Population;

  beforeAll(async () => {
    database = await createTestDatabase('bench_load');
    const app = await createBareServer(database.url);
    atEnd(() => app.close());
    url = await app.listen({ port: 0, host: '127.0.0.1' });
    population = await populate(url, 1);
  });

  it('counts exactly the requests that it sends', async () => {
    const connections = await openConnections(url, 'create', 'rest', population);
    const { requests: sent } = await connections.run(0.1);
    await connections.close();
    const [{ tasks } = {}] = await database.query('select count(*)::int as tasks from tasks');
    expect(tasks).toBe(TASKS_EACH + 1 + sent); // one more was created to inspect its response
  });

  it('stops at a wrong response', async () => {
    const forged = { ...population, readers: population.readers.map((reader) => ({ ...reader, token: 'none' })) };
    await expect(openConnections(url, 'list', 'rest', forged)).rejects.toThrow('responded with 401');
    await database.query('delete from tasks where id = $1', [population.readers[0]?.taskIds[0]]);
    await expect(openConnections(url, 'list', 'rest', population)).rejects.toThrow('unexpected response');
  });

  it('rejects responses of a gateway that are not the expected one, or longer than the first', async () => {
    for (const text of ['{"data":{"a":2}}', '{"data":{"a":1,"b":1}}', '{"data":{"a":1},"errors":[{"message":"x"}]}'])
      await expect(openGateway([text])).rejects.toThrow(/unexpected response|responded with 200/);
    const connections = await openGateway(['{"data":{"a":1}}', '{"data":{"a":12}}']);
    await expect(connections.run(1)).rejects.toThrow('17 characters instead of 16');
    await connections.close();
  });

  /** Opens a connection to a server that sends these responses, and repeats the last one. */
  async function openGateway(responses: string[]) {
    const other = fastify();
    other.post('/graphql', () => (responses.length > 1 ? responses.shift() : responses[0]));
    atEnd(() => other.close());
    const origin = await other.listen({ port: 0, host: '127.0.0.1' });
    const options = { url: `${origin}/graphql`, query: '{ a }', expected: '{"data":{"a":1}}', connections: 1 };
    return openGatewayConnections(options);
  }
});

describe('figures', () => {
  it('are medians and quantiles, interpolated if necessary, of rounds that each start with a different item', async () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
    expect(quantile([10, 20, 30], 0.99)).toBeCloseTo(29.8);
    const rounds = [1, 5, 2].map((ms) => ({ p50Ms: ms, cpu: { server: ms * 2 } }));
    expect(summarise(rounds)).toEqual({ p50Ms: 2, cpu: { server: 4 }, rounds });
    const order: string[] = [];
    const turns = { rounds: 2, seconds: 1, warmUp: 0, signal: new AbortController().signal };
    const taken = await measureInRounds(['a', 'b'], turns, async (item, seconds) => order.push(`${item}${seconds}`));
    expect(order).toEqual(['a0', 'b0', 'a1', 'b1', 'b1', 'a1']);
    expect(Object.fromEntries(taken)).toEqual({ a: [3, 6], b: [4, 5] });
  });

  it('include the CPU time of a process and of its ended children', async () => {
    const [before = 0] = cpuMsOf([process.pid]);
    const busy = 'for (const end = process.cpuUsage().user + 60000; process.cpuUsage().user < end;);';
    await promisify(execFile)(process.execPath, ['-e', busy]);
    const [after = 0] = cpuMsOf([process.pid]);
    expect(after - before).toBeGreaterThanOrEqual(50);
  });

  it('are inserted between the marks of a document, in aligned tables', () => {
    const file = join(makeTempDir(), 'README.md');
    writeFileSync(file, 'before\n<!-- figures: begin -->old<!-- figures: end -->\nafter\n');
    const rows = [{ ms: 0.12345 }, { ms: 1234.5 }];
    publish(file, { figures: table(rows, { name: ({ ms }) => `${ms}`.slice(0, 3) }, { ms: ({ ms }) => ms }) });
    const figures = '| name |    ms |\n| ---- | ----: |\n| 0.1  | 0.123 |\n| 123  |  1235 |';
    const text = `before\n<!-- figures: begin -->\n\n${figures}\n\n<!-- figures: end -->\nafter\n`;
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(() => publish(file, { nowhere: '' })).toThrow('has no marks for nowhere');
  });

  it('are shown as ratios to a bare server or PostgreSQL', () => {
    const origin = { startedAt: '2030-01-02T03:04:05.000Z', machine: describeMachine(), othersShare: 0.4 };
    const timed = [
      { work: 'load a dump' as const, by: 'Taskmesh', seconds: [1, 2, 9], memory: [{ own: 31.6, children: 7 }] },
      { work: 'load a dump' as const, by: 'psql', seconds: [1, 1, 1], memory: [] },
    ];
    const about = { server: 'PostgreSQL 15', client: 'client 15', dumpBytes: 2e6, timed };
    const report = { ...origin, ...about, parameters: { rows: 1_000, rounds: 3, quick: false } };
    const { 'backup figures': text } = backup.describe(report);
    expect(text).toMatch(/Taskmesh \| +2.00 \| +1.0 \| +500 \| +0.50 \| +32 \| +7 \|/);
    expect(text).toContain('Other processes used 40 % of the CPU');
  });
});

describe('arguments', () => {
  it('have defaults, and different ones with --quick', () => {
    const lengths = [[], ['--quick'], ['--quick', '--warm-up', '7']].map((args) => requests.options.read(args).warmUp);
    expect(lengths).toEqual([10, 0.3, 7]);
    expect(feed.options.read(['--quick'])).toMatchObject({ sockets: 200, rounds: 1, rates: ['usual'] });
    const chosen = requests.options.read(['--only', 'list,get', '--targets', 'embedded']);
    expect(chosen).toMatchObject({ only: ['get', 'list'], targets: ['embedded'] }); // in the usual order
    expect(growth.options.read(['--stores', '300000,900000']).stores).toEqual([300_000, 900_000]);
  });

  it('are rejected if they are invalid', () => {
    for (const line of ['--only lits', '--seconds x', '--warm-up -1', '--rounds 1.5', '--name ../x', '--fast', 'word'])
      expect(() => requests.options.read(line.split(' '))).toThrow(UsageError);
    for (const stores of ['0', 'many', '300000,none'])
      expect(() => growth.options.read(['--stores', stores])).toThrow(UsageError);
    expect(requests.options.help).toContain('--publish');
  });
});
