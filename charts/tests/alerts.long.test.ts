import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { providePromtool } from './support/programs.ts';
import type { AlertRule } from './support/manifest.ts';
import { ALERT_CASES, type AlertCase } from './alert-cases.ts';
import { allAlerts } from './alerts.ts';

const run = promisify(execFile);

let dir: string;
let promtool: string;
let alerts: AlertRule[];

beforeAll(async () => {
  promtool = await providePromtool();
  dir = mkdtempSync(join(tmpdir(), 'taskmesh-alerts-'));
  alerts = await allAlerts();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Whether it fires at the end of these series. */
async function fires({ alert, time }: AlertCase, series: Record<string, string>): Promise<boolean> {
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
  it.each(ALERT_CASES)('$alert fires when it should, and not before', async (each) => {
    const as = (which: 'fires' | 'silent') =>
      Object.fromEntries(Object.entries(each.series).map(([name, values]) => [name, values[which]]));
    expect(await fires(each, as('fires'))).toBe(true);
    expect(await fires(each, as('silent'))).toBe(false);
  });
});
