import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { targetEnvironment } from '../targets/start-targets.ts';
import { MissingEngine } from './engines/engine.ts';
import { providePackages } from './engines/provide-packages.ts';
import { startEngines } from './engines/start-engines.ts';
import { openSenders } from './load/senders.ts';
import { startGatewayLoad, type GatewayLoad } from './load/start-gateway-load.ts';
import { measureGateways, type GatewayMeasured } from './measure-gateways.ts';
import { gatewayOptions } from './options.ts';
import { DOCUMENTS, QUERIES } from './queries.ts';
import { describeGateways } from './report.ts';
import { expectedAnswer } from './shop/expected.ts';
import { startShop, type RunningShop } from './start-shop.ts';

const dir = mkdtempSync(join(tmpdir(), 'taskmesh-bench-gateway-'));
afterAll(() => rmSync(dir, { recursive: true }));

describe('the benchmark of gateways', () => {
  const signal = new AbortController().signal;
  const log = () => undefined;
  let shop: RunningShop;
  let load: GatewayLoad;
  let stopEngines: () => Promise<void>;
  let measured: GatewayMeasured[];

  beforeAll(async () => {
    shop = await startShop(dir);
    load = await startGatewayLoad(join(dir, 'load.log'));
    const { engines, stop } = await startEngines({
      names: ['taskmesh', 'taskmesh-image', 'apollo-undici'],
      dataDir: dir,
      cacheDir: dir,
      supergraphFile: shop.supergraphFile,
      env: targetEnvironment(process.env),
      log,
      signal,
    });
    stopEngines = stop;
    const lengths = { rounds: 2, seconds: 0.2, warmUpSeconds: 0.05, connections: 2 };
    measured = await measureGateways({ ...lengths, queries: [...QUERIES], engines, load, shop, signal, log });
  }, 180_000);
  afterAll(async () => {
    await stopEngines();
    await load.stop();
    await shop.stop();
  });

  it('measures each query at each gateway in every round', () => {
    expect(measured.map(({ query, engine, rounds }) => [query, engine, rounds.length])).toEqual(
      QUERIES.flatMap((query) => [
        [query, 'taskmesh', 2],
        [query, 'taskmesh-image', 2],
        [query, 'apollo-undici', 2],
      ]),
    );
    for (const { cpuMs, perSecond, p50Ms, p99Ms, peakMiB } of measured) {
      for (const figure of [cpuMs, perSecond, p50Ms, peakMiB]) expect(figure).toBeGreaterThan(0);
      expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
    }
  });

  it('counts what a gateway asks its services', () => {
    const calls = measured.filter(({ engine }) => engine === 'apollo-undici').map((row) => Math.round(row.calls));
    expect(calls).toEqual([1, 4, 16]);
  });

  it('tells the figures as a table, and who is missing', () => {
    const { 'gateway figures': text = '' } = describeGateways({
      startedAt: '2026-01-02T03:04:05.000Z',
      machine: { system: 'Linux', processor: 'x', cores: 2, memoryGiB: 4, node: 'v24.0.0' },
      parameters: { connections: 2, rounds: 2, seconds: 0.2, warmUpSeconds: 0.05 },
      othersShare: 0,
      missing: [{ name: 'hive', reason: 'npm could not install it.' }],
      measured,
    });
    expect(text).toContain('Without Hive gateway-runtime: npm could not install it.');
    expect(text.split('\n').filter((line) => line.startsWith('| heavy'))).toHaveLength(3);
  });
});

describe('what the load takes for an answer', () => {
  let server: Server;
  let url: string;
  let answers: string[];

  beforeAll(async () => {
    server = createServer((_request, response) => response.end(answers.length > 1 ? answers.shift() : answers[0]));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`; // it listens on TCP
  });
  afterAll(() => void server.close());

  const open = (...given: string[]) => {
    answers = given;
    return openSenders({ url, query: '{ a }', expected: '{"data":{"a":1}}', connections: 1 });
  };

  it.each(['{"data":{"a":2}}', '{"data":{"a":1},"errors":[{"message":"x"}]}', '{"errors":[]}'])(
    'is not %s',
    async (text) => {
      await expect(open(text)).rejects.toThrow('answered something else');
    },
  );

  it('is not one of another length than before', async () => {
    const [sender] = await open('{"data":{"a":1}}', '{"data":{"a":12}}');
    await expect(sender?.keepBusy(performance.now() + 1_000)).rejects.toThrow('17 characters, and before 16');
    await sender?.close();
  });
});

it('the answers that are expected come from one schema', async () => {
  expect(JSON.parse(await expectedAnswer(DOCUMENTS.simple)).data.users[1]).toEqual({
    id: '2',
    name: 'Bela Example',
    username: 'bela',
    birthday: 631_152_001,
  });
});

it('packages that cannot be had leave a gateway out', async () => {
  await expect(providePackages(join(dir, 'cache'), { 'not a package': '1.0.0' })).rejects.toThrow(MissingEngine);
});

it('options have limits', () => {
  expect(gatewayOptions.read(['--quick'])).toMatchObject({ rounds: 1, engines: expect.arrayContaining(['hive']) });
  expect(() => gatewayOptions.read(['--targets', 'nobody'])).toThrow('--targets knows');
});
