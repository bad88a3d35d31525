import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMsOf, mibOf } from '../machine/cpu.ts';
import { startLoad, startServer, stopPart } from '../machine/processes.ts';
import type { Environment, Report, RunContext } from '../run/benchmark.ts';
import { combine, difference, measureInRounds, sumOf, summarise } from '../run/figures.ts';
import { amount, choice, count, defineOptions } from '../run/options.ts';
import { describeOrigin, describeRounds, LATENCIES, table } from '../run/report.ts';
import { ENGINES, startEngines, TITLES } from './engines.ts';
import { composeShop, DOCUMENTS, expectedResponse, QUERIES } from './shop.ts';

/** The share of operations that are traced. */
const TRACED_SHARE = 0.01;

const ABOUT =
  "Measures the cost of federated queries: Taskmesh's gateway compared with others for Node, with the graph of the public gateway benchmark.";
const options = defineOptions('gateway', ABOUT, {
  only: choice('queries', QUERIES),
  targets: choice('gateways', ENGINES),
  seconds: amount('length of one round', [3, 0.5]),
  warmUp: amount('seconds of each gateway before its first round', [4, 1]),
  rounds: count('number of rounds; the median counts', [5, 1]),
  connections: count('concurrent requests', [32], { max: 1_000 }),
});
type Options = ReturnType<typeof options.read>;

/** Measures all gateways in turns, query by query. CPU and requests to services are per request. */
async function run(chosen: Options & RunContext) {
  await using closers = new AsyncDisposableStack();
  const collector = closers.adopt(
    await startServer({
      ...{ file: new URL('collector.main.ts', import.meta.url), env: process.env },
      logFile: join(chosen.dataDir, 'collector.log'),
    }),
    stopPart,
  );
  const shop = closers.adopt(await startShop(chosen.dataDir), stopPart);
  const env: Environment = {
    ...chosen.env,
    SUPERGRAPH_FILE: shop.supergraphFile,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(TRACED_SHARE),
  };
  const { engines } = closers.adopt(await startEngines(chosen.targets, { ...chosen, env }), stopPart);
  const load = closers.adopt(await startLoad(chosen.dataDir), stopPart);
  const measured = [];
  for (const query of chosen.only) {
    chosen.log(`${query} …`);
    const expected = await expectedResponse(query);
    const results = await measureInRounds(engines, chosen, async ({ url, pid }, seconds) => {
      await load.call('openGateway', { url, query: DOCUMENTS[query], expected, connections: chosen.connections });
      const read = async () => ({ cpuMs: sumOf(cpuMsOf([pid])), calls: await shop.requests() });
      const before = await read();
      const figures = await load.call('run', seconds);
      const spent = difference(await read(), before);
      await load.call('close');
      const { requests } = figures;
      const perRequest = combine([spent], ([amount = 0]) => amount / requests);
      return { ...figures, ...perRequest, perSecond: requests / figures.seconds };
    });
    for (const [{ name, pid }, rounds] of results)
      measured.push({ query, engine: name, peakMiB: mibOf(pid, 'VmHWM'), ...summarise(rounds) });
  }
  return { measured };
}

/** The services behind the gateways. */
async function startShop(dataDir: string) {
  const file = new URL('services.main.ts', import.meta.url);
  const services = await startServer({ file, env: process.env, logFile: join(dataDir, 'services.log') });
  const supergraphFile = join(dataDir, 'shop.graphql');
  writeFileSync(supergraphFile, composeShop(services.url));
  return {
    supergraphFile,
    /** Returns the number of requests so far. */
    async requests() {
      const reply = services.nextMessage();
      services.process.send({});
      return ((await reply) as { requests: number }).requests;
    },
    stop: () => services.stop(),
  };
}

type GatewayReport = Report<Options, Awaited<ReturnType<typeof run>>>;
type Row = GatewayReport['measured'][number];

function describe(report: GatewayReport): Record<string, string> {
  const { measured } = report;
  const { connections, rounds, seconds, warmUp } = report.parameters;
  const method = `${connections} connections · ${describeRounds(rounds, seconds)}, after ${warmUp} s to warm up · CPU in ms per request`;
  const ratioToOurs = (row: Row) => {
    const ours = measured.find(({ query, engine }) => query === row.query && engine === 'taskmesh');
    return ours && ours !== row ? (row.cpuMs / ours.cpuMs).toFixed(2) : '';
  };
  const figures = table<Row>(
    measured,
    { query: ({ query }) => query, gateway: ({ engine }) => TITLES[engine] },
    {
      'CPU-ms': ({ cpuMs }) => cpuMs,
      '× Taskmesh': ratioToOurs,
      calls: ({ calls }) => calls.toFixed(1),
      'peak MiB': ({ peakMiB }) => Math.round(peakMiB).toString(),
      ...LATENCIES,
    },
  );
  return { 'gateway figures': `${describeOrigin(report, method)}\n\n${figures}` };
}

export const gateway = { options, run, describe };
