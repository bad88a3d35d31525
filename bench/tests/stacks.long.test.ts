import { runBench } from './run-bench.ts';

const TIMEOUT_MS = 600_000;

describe('npm run bench, at whole platforms', () => {
  it(
    'compares requests of separate processes with those of the bare server',
    async () => {
      const { rows } = await runBench('--quick --targets bare,separate --only get --rounds 1');
      const [titles = [], bare, rest, graphql] = rows;
      expect([bare, rest, graphql].map((row) => row?.slice(0, 3))).toEqual([
        ['get', 'bare', 'REST'],
        ['get', 'separate', 'REST'],
        ['get', 'separate', 'GraphQL'],
      ]);
      expect(Number(rest?.[titles.indexOf('× bare')])).toBeGreaterThan(1);
    },
    TIMEOUT_MS,
  );

  it(
    'delivers changes over every protocol, and compares gateways with a bare server that reads their Kafka',
    async () => {
      const { rows } = await runBench(
        'feed --quick --loads personal --targets bare,separate --sockets 20 --seconds 0.5',
      );
      expect(rows.map(([target, over, since]) => [target, over, since])).toEqual([
        ['target', 'over', 'since'],
        ['separate', 'graphql-ws', 'commit'],
        ['separate', 'SSE', 'commit'],
        ['separate', 'multipart', 'commit'],
        ['separate', 'channel', 'commit'],
        ['bare', 'ws', 'post'],
        ['bare', 'ws', 'publish'],
      ]);
    },
    TIMEOUT_MS,
  );

  it(
    'times backups and restores',
    async () => {
      const { rows } = await runBench('backup --rows 1000 --rounds 1');
      const ours = rows.filter(([, by]) => by === 'Taskmesh');
      expect(ours.map(([work]) => work)).toEqual(['dump and compress', 'load a dump', 'whole restore']);
      for (const [, , seconds] of ours) expect(Number(seconds)).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );

  it(
    'measures pages and CPU of every kind of request',
    async () => {
      const { report, rows } = await runBench('growth --quick --stores 6000');
      const costs = report.requests as { kind: string; owner: number; pages: number; server: number }[];
      for (const { pages, server } of costs) for (const figure of [pages, server]) expect(figure).toBeGreaterThan(0);
      const [small, large] = costs.filter(({ kind }) => kind.startsWith('statistics'));
      expect(large?.pages).toBeGreaterThan(10 * (small?.pages ?? NaN));
      expect(rows.filter(([kind]) => kind === 'create')).toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  it(
    'measures what work costs in each part of a stack, and predicts a mixed load',
    async () => {
      const { report, rows } = await runBench('scale --quick --gateways 1 --seconds 0.5 --sockets 20');
      const { cpuMs } = report.coefficients as { cpuMs: Record<string, Record<string, number>> };
      for (const kind of ['list', 'create', 'login']) expect(cpuMs[kind]?.gateway).toBeGreaterThan(0);
      expect(rows.filter(([, of]) => of === 'memory of a gateway')).toHaveLength(1);
    },
    TIMEOUT_MS,
  );
});
