import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { CHARTS } from '../tools/generated.ts';
import { render, renderText } from './support/helm.ts';
import { provideGoTool } from './support/programs.ts';
import { SHIPPED } from './support/odd-values.ts';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const CONFIG = join(CHARTS, '.kube-linter.yaml');
/** Fetches schemas over the network, object by object. */
const BY_KUBECONFORM = 'schema-validation';

/** The pods of these policies belong to an operator, and to an application outside of this release. */
const OTHERS_PODS = ['dangling-networkpolicy', 'dangling-networkpolicypeer-podselector'];
/** Findings that values cause on purpose. */
const CHOSEN: Record<string, string[]> = {
  'taskmesh with ci/bare-values.yaml': ['non-isolated-pod'],
  'taskmesh with ci/everything-said-values.yaml': ['exposed-services'],
};
const cases = SHIPPED.map(([name, options]) => ({
  name,
  options,
  chosen: CHOSEN[name] ?? (options.chart === 'taskmesh-data' ? OTHERS_PODS : []),
}));
const kubeLinter = await provideGoTool('kube-linter'); // Go builds it once

interface Report {
  Check: string;
  Diagnostic: { Message: string };
  Object: { K8sObject: { Name: string; GroupVersionKind: { Kind: string } } };
}

/** Its findings, by check. */
async function findingsIn(text: string, args = ['--config', CONFIG]): Promise<Record<string, string[]>> {
  const linting = run(kubeLinter, ['lint', '--format', 'json', ...args, '-'], { maxBuffer: MAX_OUTPUT_BYTES });
  linting.child.stdin?.end(text);
  const { stdout } = await linting.catch((error: { stdout?: string }) =>
    error.stdout ? { stdout: error.stdout } : Promise.reject(error),
  );
  const { Reports } = JSON.parse(stdout) as { Reports: Report[] | null };
  const findings: Record<string, string[]> = {};
  for (const { Check, Diagnostic, Object: object } of Reports ?? []) {
    const { Name, GroupVersionKind } = object.K8sObject;
    (findings[Check] ??= []).push(`${GroupVersionKind.Kind}/${Name}: ${Diagnostic.Message}`);
  }
  return findings;
}

describe('kube-linter', () => {
  it.each(cases)('finds nothing in $name except on purpose: $chosen', async ({ options, chosen }) => {
    const findings = await findingsIn(await renderText(options));
    const expected = Object.fromEntries(chosen.map((check) => [check, expect.any(Array)]));
    expect(findings).toEqual(expected);
  });

  it('excludes no check that would find nothing', async () => {
    const { checks } = parse(readFileSync(CONFIG, 'utf8')) as { checks: { exclude: string[] } };
    const all = ['--add-all-built-in', '--exclude', BY_KUBECONFORM];
    const found = new Set<string>();
    for (const { options } of cases)
      for (const check of Object.keys(await findingsIn(await renderText(options), all))) found.add(check);
    expect(checks.exclude.filter((check) => check !== BY_KUBECONFORM && !found.has(check))).toEqual([]);
  });

  it('finds a defect', async () => {
    const manifests = structuredClone(await render());
    const container = manifests.find(({ kind }) => kind === 'Deployment')?.spec?.template?.spec.containers[0];
    Object.assign(container ?? {}, { image: 'taskmesh:latest', securityContext: { privileged: true } });
    const findings = await findingsIn(manifests.map((each) => JSON.stringify(each)).join('\n---\n'));
    expect(Object.keys(findings).toSorted()).toEqual([
      'latest-tag',
      'no-read-only-root-fs',
      'privilege-escalation-container',
      'privileged-container',
    ]);
  });
});
