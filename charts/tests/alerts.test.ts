import { parser } from '@prometheus-io/lezer-promql';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHARTS } from '../tools/generated.ts';
import { ALERT_CASES } from './alert-cases.ts';
import { allAlerts } from './alerts.ts';

// Whether they fire when they should takes Prometheus' own promtool: alerts.long.test.ts.
const strict = parser.configure({ strict: true });

it('every alert has a case that makes it fire', async () => {
  const tried = new Set(ALERT_CASES.map(({ alert }) => alert));
  expect(tried).toEqual(new Set((await allAlerts()).map(({ alert }) => alert)));
});

it('every alert is PromQL', async () => {
  for (const { alert, expr } of await allAlerts()) expect([alert, whyNoPromql(expr)]).toEqual([alert, undefined]);
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
  const { panels } = JSON.parse(readFileSync(join(CHARTS, 'taskmesh/files/dashboards/taskmesh.json'), 'utf8')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  for (const { title, targets } of panels)
    for (const { expr } of targets) {
      const asked = expr.replaceAll('$__rate_interval', '5m');
      expect([title, whyNoPromql(asked)]).toEqual([title, undefined]);
    }
});

function whyNoPromql(text: string): unknown {
  try {
    strict.parse(text);
    return undefined;
  } catch (error) {
    return error;
  }
}
