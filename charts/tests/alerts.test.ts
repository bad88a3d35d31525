import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { CHARTS } from '../tools/generated.ts';
import { render } from '../tools/helm.ts';
import type { AlertRule } from '../tools/manifest.ts';
import { providePromtool } from '../tools/provide-promtool.ts';

const run = promisify(execFile);

/** What each step brings: `10+5x120` begins at 10 and grows by 5. */
interface Case {
  alert: string;
  /** @default two hours in steps of a minute */
  time?: { interval: string; evalTime: string };
  series: Record<string, { fires: string; silent: string }>;
}

const of = (component: string) => `namespace="prod",job="shop-taskmesh-${component}-admin",pod="p"`;
const constant = (value: number) => `${value}x120`;
const growing = (by: number) => `0+${by}x120`;

/** promtool's clock begins at the beginning of Unix' time. */
const DAYS = { interval: '1h', evalTime: '12d' };

const cases: Case[] = [
  { alert: 'TaskmeshTargetDown', series: { [`up{${of('auth')}}`]: { fires: constant(0), silent: constant(1) } } },
  {
    alert: 'TaskmeshRequestsFail',
    series: {
      [`http_request_duration_seconds_count{${of('gateway')},status="200"}`]: {
        fires: growing(600),
        silent: growing(600),
      },
      [`http_request_duration_seconds_count{${of('gateway')},status="503"}`]: {
        fires: growing(60),
        silent: growing(1),
      },
    },
  },
  {
    alert: 'TaskmeshEventLoopLate',
    series: { [`nodejs_eventloop_lag_p99_seconds{${of('tasks')}}`]: { fires: constant(0.5), silent: constant(0.02) } },
  },
  {
    alert: 'TaskmeshDeliverySlow',
    series: {
      [`taskmesh_realtime_delivery_latency_seconds_bucket{${of('gateway')},le="0.5"}`]: {
        fires: growing(50),
        silent: growing(100),
      },
      [`taskmesh_realtime_delivery_latency_seconds_bucket{${of('gateway')},le="5"}`]: {
        fires: growing(100),
        silent: growing(100),
      },
      [`taskmesh_realtime_delivery_latency_seconds_bucket{${of('gateway')},le="+Inf"}`]: {
        fires: growing(100),
        silent: growing(100),
      },
    },
  },
  {
    alert: 'TaskmeshOutboxStuck',
    series: { [`outbox_oldest_pending_age_seconds{${of('tasks')}}`]: { fires: growing(60), silent: constant(2) } },
  },
  {
    alert: 'TaskmeshOutboxUnknown',
    series: {
      [`up{${of('tasks')}}`]: { fires: constant(1), silent: constant(1) },
      [`outbox_oldest_pending_age_seconds{${of('tasks')}}`]: { fires: '_x120', silent: constant(0) },
    },
  },
  {
    alert: 'TaskmeshDeadLetters',
    series: { [`dead_letters{${of('tasks')},source="relay"}`]: { fires: constant(1), silent: constant(0) } },
  },
  {
    alert: 'TaskmeshGapFills',
    series: { [`taskmesh_realtime_gap_fills_total{${of('gateway')}}`]: { fires: growing(300), silent: growing(6) } },
  },
  {
    alert: 'TaskmeshClientsTooSlow',
    series: {
      [`taskmesh_realtime_connections_ended_total{${of('gateway')},reason="slow"}`]: {
        fires: growing(60),
        silent: growing(1),
      },
    },
  },
  {
    alert: 'TaskmeshSupergraphRefused',
    series: {
      [`taskmesh_gateway_supergraph_reloads_total{${of('gateway')},outcome="refused"}`]: {
        fires: growing(1),
        silent: constant(3),
      },
    },
  },
  {
    alert: 'TaskmeshLoginsWait',
    series: { [`taskmesh_auth_password_hash_waiting{${of('auth')}}`]: { fires: constant(50), silent: constant(5) } },
  },
  {
    alert: 'TaskmeshMailsFail',
    series: {
      [`taskmesh_auth_recovery_mails_total{${of('auth')},outcome="failed"}`]: {
        fires: growing(1),
        silent: constant(9),
      },
    },
  },
  {
    alert: 'TaskmeshBackupOld',
    time: DAYS,
    series: {
      [`taskmesh_backup_last_success_timestamp_seconds{${of('backup')}}`]: { fires: '1x300', silent: '0+3600x300' },
    },
  },
  {
    alert: 'TaskmeshBackupUnproved',
    time: DAYS,
    series: {
      [`taskmesh_backup_last_verified_timestamp_seconds{${of('backup')}}`]: { fires: '1x300', silent: '0+3600x300' },
    },
  },
  {
    alert: 'TaskmeshBackupFails',
    series: {
      [`taskmesh_backup_schedule_failures_total{${of('backup')}}`]: { fires: growing(1), silent: constant(2) },
    },
  },
];

let dir: string;
let promtool: string;
let alerts: AlertRule[];

beforeAll(async () => {
  promtool = await providePromtool();
  dir = mkdtempSync(join(tmpdir(), 'taskmesh-alerts-'));
  const [rule] = (await render({ set: { 'prometheusRule.enabled': true } })).filter(
    ({ kind }) => kind === 'PrometheusRule',
  );
  const groups = rule?.spec?.groups ?? [];
  alerts = groups.flatMap(({ rules }) => rules);
}, 120_000);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Whether it fires at the end of these series. */
async function fires({ alert, time }: Case, series: Record<string, string>): Promise<boolean> {
  const { interval, evalTime } = time ?? { interval: '1m', evalTime: '2h' };
  const file = join(dir, 'test.yaml');
  const rules = alerts.filter((each) => each.alert === alert);
  writeFileSync(join(dir, 'rules.yaml'), stringify({ groups: [{ name: 'tried', rules }] }));
  const test = {
    interval,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: 'count(ALERTS{alertstate="firing"})',
        eval_time: evalTime,
        exp_samples: [{ labels: '{}', value: 1 }],
      },
    ],
  };
  writeFileSync(file, stringify({ rule_files: ['rules.yaml'], evaluation_interval: interval, tests: [test] }));
  const { stdout, stderr } = await run(promtool, ['test', 'rules', file]).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  const said = stdout + stderr;
  if (/SUCCESS/.test(said)) return true;
  if (/got:\s*nil/.test(said)) return false;
  throw new Error(said);
}

describe('an alert', () => {
  it('is tried, each', () => {
    expect(cases.map(({ alert }) => alert).toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  });

  it.each(cases)('$alert fires when it should, and not before', async (each) => {
    const as = (which: 'fires' | 'silent') =>
      Object.fromEntries(Object.entries(each.series).map(([name, values]) => [name, values[which]]));
    expect(await fires(each, as('fires'))).toBe(true);
    expect(await fires(each, as('silent'))).toBe(false);
  });

  it('and every panel of the dashboard is PromQL', async () => {
    const { panels } = JSON.parse(readFileSync(join(CHARTS, 'taskmesh/files/dashboards/taskmesh.json'), 'utf8')) as {
      panels: { targets: { expr: string }[] }[];
    };
    const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')));
    const rules = exprs.map((expr, index) => ({ record: `panel:${index}`, expr }));
    writeFileSync(join(dir, 'panels.yaml'), stringify({ groups: [{ name: 'panels', rules }] }));
    const { stdout } = await run(promtool, ['check', 'rules', join(dir, 'panels.yaml')]);
    expect(stdout).toContain(`${exprs.length} rules found`);
  });
});
