import { eventually } from '@taskmesh/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stretchesOf, type Cell } from './cells.ts';
import { titleOf } from './change.ts';
import { summarise } from '../figures.ts';
import { hookSettings } from '../hooks/ask-hook.ts';
import type { Target } from '../targets/target.ts';
import { openListeners } from './load/listeners.ts';
import { openSource } from './load/sources.ts';
import { startFeedLoad, type FeedLoadProcess } from './load/start-feed-load.ts';
import { createTitleFinder } from './load/titles.ts';
import { measureFeed, type FeedMeasured, type FeedRound } from './measure-feed.ts';
import { feedOptions } from './options.ts';
import { describeFeed } from './report.ts';
import { startFeedTargets } from './targets.ts';
import { createUsers, type Users } from './users.ts';

const SOCKETS = 20;

describe('the feed’s benchmark at the bare server', () => {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-bench-feed-'));
  const signal = new AbortController().signal;
  let users: Users;
  let targets: Target[];
  let stopTargets: () => Promise<void>;
  let load: FeedLoadProcess;

  beforeAll(async () => {
    users = await createUsers(join(dir, 'keys.json'));
    const settings = { ...users.settings, ...hookSettings('memory', join(dir, 'hooks')) };
    const options = { dataDir: dir, sockets: SOCKETS, env: process.env, settings, log: () => undefined, signal };
    ({ targets, stop: stopTargets } = await startFeedTargets(['bare'], options));
    load = await startFeedLoad(join(dir, 'load.log'));
  }, 180_000);
  afterAll(async () => {
    await load.stop();
    await stopTargets();
    rmSync(dir, { recursive: true });
  });

  it('counts every message at every socket, and what it took', async () => {
    const measured = await measureFeed({
      ways: ['bare'],
      protocols: [],
      loads: ['personal', 'fan-out'],
      rates: ['usual', 'high'],
      sockets: SOCKETS,
      seconds: 0.4,
      warmUpSeconds: 0.05,
      rounds: 2,
      targets,
      load,
      createUsers: users.create,
      hookDir: join(dir, 'hooks'),
      signal,
      log: () => undefined,
    });
    // There is no Kafka here: what stays is what is posted.
    expect(measured.map(({ load: name, source, rate }) => [name, source, rate])).toEqual([
      ['personal', 'http', 'usual'],
      ['personal', 'http', 'high'],
      ['fan-out', 'http', 'usual'],
      ['fan-out', 'http', 'high'],
    ]);
    const perRound = (index: number) => measured[index]?.rounds.map(({ changes, messages }) => [changes, messages]);
    expect(perRound(0)).toEqual(Array(2).fill([200, 200]));
    expect(perRound(2)).toEqual(Array(2).fill([100, 100 * SOCKETS])); // one owner for all twenty
    for (const { cpuByRole, p50Ms, p99Ms, bytesPerSocket } of measured) {
      expect(cpuByRole.server).toBeGreaterThan(0);
      expect(p50Ms).toBeGreaterThan(0);
      expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
      expect(bytesPerSocket).not.toBeNaN();
    }
  }, 180_000);

  it('notices a change that comes twice', async () => {
    const [bare] = targets;
    const [user] = await users.create(1);
    if (!bare?.sources.http || !user) throw new Error('Nothing runs.');
    const listeners = await openListeners({ url: bare.url, speech: 'bare', users: [user], socketsPerOwner: 1 });
    const source = await openSource('http', bare.sources);
    const recording = listeners.record();
    const change = { n: 1, ownerId: user.id, sequence: 1 };
    const got = async (count: number) => {
      while (recording.numbers.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await source.make([change]);
    await got(1);
    recording.check();
    await source.make([change]);
    await got(2);
    expect(() => recording.check()).toThrow('got change 1 behind 1');
    await source.close();
    await listeners.close();
  });
});

describe('the feed’s load', () => {
  it('notices that a server closes a connection, and still closes the others', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
        open.push(socket);
      });
    });
    const open: Socket[] = [];
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // a TCP server's
    const user = { id: 'anybody', token: 'none' };
    const url = `http://127.0.0.1:${port}`;
    const listeners = await openListeners({ url, speech: 'bare', users: [user], socketsPerOwner: 2 });
    const { check } = listeners.record();
    check();
    open[0]?.destroy();
    await eventually(() => expect(check).toThrow('The server closed a connection'));
    await listeners.close();
    server.close();
  });

  it('finds titles wherever a stream of bytes is cut', () => {
    const text = [3, 14, 159].map((n) => `{"title":${JSON.stringify(titleOf(n))},"note":"a # b \\"# c"}`).join('\r\n');
    const bytes = Buffer.from(text.replaceAll(',"note":"a # b \\"# c"', ',"note":"a # b"'));
    for (let cut = 0; cut <= bytes.length; cut++) {
      const found: number[] = [];
      const find = createTitleFinder((n) => found.push(n));
      find(bytes.subarray(0, cut));
      find(bytes.subarray(cut));
      expect(found).toEqual([3, 14, 159]);
    }
  });

  it('takes changes of a target with a store from that alone: gateways end feeds that are ahead of it', () => {
    const cell: Cell = { way: 'separate', speech: 'sse', load: 'personal' };
    const sources = stretchesOf(cell, ['usual', 'high']).map(({ source }) => source);
    expect(sources).toEqual(['commit', 'commit']);
  });
});

describe('the feed’s tables', () => {
  const round = (server: number): FeedRound => ({
    messages: 1_000,
    changes: 1_000,
    seconds: 2,
    p50Ms: 1,
    p95Ms: 2,
    p99Ms: 3,
    messagesPerS: 500,
    cpuByPart: {},
    cpuByRole: { server, inner: 0.2, postgres: 0.3, redis: 0, kafka: 0.4 },
    bytesPerSocket: 10_240,
  });
  const usual = { load: 'personal', rate: 'usual' } as const;
  const measured: FeedMeasured[] = [
    { way: 'bare', speech: 'bare', ...usual, source: 'http', ...summarise([round(0.1)]) },
    { way: 'bare', speech: 'bare', ...usual, source: 'kafka', ...summarise([round(0.2)]) },
    { way: 'separate', speech: 'sse', ...usual, source: 'commit', ...summarise([round(0.4), round(0.6)]) },
  ];
  const machine = { system: 'Linux', processor: 'any', cores: 2, memoryGiB: 4, node: 'v24.0.0', postgres: '18.4' };
  const parameters = { sockets: 2_000, rounds: 2, seconds: 4, warmUpSeconds: 2 };
  const report = { startedAt: '2030-01-02T03:04:05.000Z', machine, parameters, measured, othersShare: 0.01 };

  const text = (about: typeof report) => describeFeed(about)['feed figures'];

  it('compare medians with the bare server that takes its changes from the same place', () => {
    expect(text(report)).toMatch(/separate +\| SSE +\| commit +\| +0\.500 \| +2\.50 \| +0\.200 /);
  });

  it('say that somebody else was using the machine', () => {
    expect(text(report)).not.toContain('to be taken again');
    expect(text({ ...report, othersShare: 0.4 })).toContain('Others took 40 % of the machine');
  });
});

describe('the feed’s arguments', () => {
  it('leave the high rates out of a quick run', () => {
    expect(feedOptions.read(['--quick'])).toMatchObject({ sockets: 200, rounds: 1, rates: ['usual'] });
    expect(feedOptions.read(['--only', 'sse,graphql-ws'])).toMatchObject({
      protocols: ['graphql-ws', 'sse'],
      sockets: 2_000,
      rates: ['usual', 'high'],
    });
  });

  it.each([['--only', 'ws'], ['--sockets', '0'], ['--loads', 'everything'], ['--name', '../x'], ['--fast']])(
    'refuse what makes no sense: %s %s',
    (...args: string[]) => {
      expect(() => feedOptions.read(args)).toThrow();
    },
  );
});
