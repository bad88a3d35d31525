import { parser } from '@prometheus-io/lezer-promql';
import { makeTempDir } from '@taskmesh/testing';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { CHARTS } from '../tools/generated.ts';
import { ALERT_CASES, type AlertCase } from './alert-cases.ts';
import { allAlerts } from './containers.ts';
import { providePromtool } from './support/programs.ts';

const strict = parser.configure({ strict: true });

it('every alert has a case that makes it fire', async () => {
  const tried = new Set(ALERT_CASES.map(({ alert }) => alert));
  expect(tried).toEqual(new Set((await allAlerts()).map(({ alert }) => alert)));
});

it('every alert is PromQL', async () => {
  for (const { alert, expr } of await allAlerts()) expect([alert, findPromqlProblem(expr)]).toEqual([alert, undefined]);
});

it('no alert names a job: elsewhere than in the chart they have other names, and $SELECTOR stands for them', () => {
  expect(readFileSync(join(CHARTS, 'taskmesh/files/alerts.yaml'), 'utf8')).not.toContain('job=');
});

it('the alert on backups knows every way in which a verification ends badly', async () => {
  const metrics = readFileSync(join(CHARTS, '../services/backup/src/metrics.ts'), 'utf8');
  const [, list = ''] = /for \(const outcome of \[([^\]]*)\]\) verifications\.inc/.exec(metrics) ?? [];
  const outcomes = list.match(/[a-z-]+/g) ?? [];
  expect(outcomes).toContain('unprovable');
  const expr = (await allAlerts()).find(({ alert }) => alert === 'TaskmeshBackupFails')?.expr ?? '';
  const [, asked = ''] = /outcome=~"([^"]*)"/.exec(expr) ?? [];
  expect(asked.split('|').toSorted()).toEqual(outcomes.filter((outcome) => outcome !== 'ok').toSorted());
});

it('every panel of the dashboard is PromQL', () => {
  const { panels } = JSON.parse(readFileSync(join(CHARTS, 'taskmesh/files/dashboards/taskmesh.json'), 'utf8'));
  for (const { title, targets } of panels)
    for (const { expr } of targets)
      expect([title, findPromqlProblem(expr.replaceAll('$__rate_interval', '5m'))]).toEqual([title, undefined]);
});

function findPromqlProblem(text: string): unknown {
  try {
    strict.parse(text);
    return undefined;
  } catch (error) {
    return error;
  }
}

// Whether they fire when they should takes Prometheus' own promtool: a long run (npm run test:charts).
const describeLong = process.env.TASKMESH_LONG ? describe : describe.skip;

describeLong('an alert', () => {
  const dir = makeTempDir();
  let promtool: string;
  beforeAll(async () => {
    promtool = await providePromtool();
  });

  /** Whether it fires at the end of these series. */
  async function fires({ alert, time }: AlertCase, series: Record<string, string>): Promise<boolean> {
    const { interval, evalTime } = time ?? { interval: '1m', evalTime: '2h' };
    const file = join(dir, 'test.yaml');
    const rules = (await allAlerts()).filter((each) => each.alert === alert);
    writeFileSync(join(dir, 'rules.yaml'), stringify({ groups: [{ name: 'tried', rules }] }));
    const test = {
      interval,
      input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
      promql_expr_test: [
        { expr: 'count(ALERTS{alertstate="firing"})', eval_time: evalTime, exp_samples: [{ labels: '{}', value: 1 }] },
      ],
    };
    writeFileSync(file, stringify({ rule_files: ['rules.yaml'], evaluation_interval: interval, tests: [test] }));
    const { stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' });
    const said = stdout + stderr;
    if (/SUCCESS/.test(said)) return true;
    if (/got:\s*nil/.test(said)) return false;
    throw new Error(said);
  }

  it.each(ALERT_CASES)('$alert fires when it should, and not before', async (each) => {
    const as = (which: 'fires' | 'silent') =>
      Object.fromEntries(Object.entries(each.series).map(([name, values]) => [name, values[which]]));
    expect(await fires(each, as('fires'))).toBe(true);
    expect(await fires(each, as('silent'))).toBe(false);
  });
});
