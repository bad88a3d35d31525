import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeTempDir } from '@taskmesh/testing';
import { parseManifests, render, renderText } from './support/helm.ts';
import type { Manifest } from './support/manifest.ts';
import { provideKubeconform } from './support/programs.ts';
import { KUBERNETES, provideSchemas } from './support/provide-schemas.ts';
import { SHIPPED_AND_ODD } from './support/odd-values.ts';

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

const dir = makeTempDir();
const [kubeconform, schemas] = await Promise.all([provideKubeconform(), provideSchemas()]); // Go builds it once

type Result = Record<'filename' | 'kind' | 'name' | 'status' | 'msg', string>;

/** kubeconform's result for each object in these texts. */
function resultsOf(texts: Record<string, string>, kubernetes: string): Result[] {
  const files = Object.entries(texts).map(([name, text]) => {
    const file = join(dir, `${name.replaceAll('/', ' ')}.yaml`);
    writeFileSync(file, text);
    return file;
  });
  const args = ['-strict', '-kubernetes-version', kubernetes, '-verbose', '-output', 'json'];
  args.push(...schemas.flatMap((each) => ['-schema-location', each]), ...files);
  const { stdout, error } = spawnSync(kubeconform, args, { maxBuffer: MAX_OUTPUT_BYTES, encoding: 'utf8' });
  if (error) throw error;
  return JSON.parse(stdout).resources;
}

describe.each(KUBERNETES)('Kubernetes %s', (kubernetes) => {
  it('knows every field that the charts render, with its type', async () => {
    const texts: Record<string, string> = {};
    for (const [name, options] of SHIPPED_AND_ODD) texts[name] = await renderText({ ...options, kubernetes });
    const results = resultsOf(texts, kubernetes);
    const refused = results.filter(({ status }) => status !== 'statusValid');
    expect(refused.map(({ filename, kind, name, msg }) => [basename(filename), `${kind}/${name}`, msg])).toEqual([]);
    expect(results).toHaveLength(Object.values(texts).flatMap(parseManifests).length);
  }, 600_000); // Helm runs for each

  it.each([
    { kind: 'Deployment', values: 'values.yaml', field: 'minReadySeconds' },
    { kind: 'NetworkPolicy', values: 'values.yaml', field: 'podSelector' },
    { kind: 'ScaledObject', values: 'ci/keda-values.yaml', field: 'maxReplicaCount' },
    { kind: 'HTTPRoute', values: 'ci/gateway-api-values.yaml', field: 'rules' },
    { kind: 'Cluster', chart: 'taskmesh-data', values: 'values.yaml', field: 'instances' },
    { kind: 'KafkaUser', chart: 'taskmesh-data', values: 'values.yaml', field: 'authentication' },
  ])('rejects unknown fields, wrong types and duplicate keys: $kind', async ({ kind, field, ...options }) => {
    const good = (await render(options)).find((each) => each.kind === kind) as Manifest;
    const withSpec = (more: object) => JSON.stringify({ ...good, spec: { ...good.spec, ...more } });
    const texts = {
      good: JSON.stringify(good),
      other: withSpec({ typo: 1 }),
      label: JSON.stringify({ ...good, metadata: { ...good.metadata, label: {} } }),
      type: withSpec({ [field]: 'some' }),
      twice: JSON.stringify(good).replace('{', `{"kind":"${kind}",`),
    };
    const results = resultsOf(texts, kubernetes);
    expect(Object.fromEntries(results.map(({ filename, msg }) => [basename(filename, '.yaml'), msg]))).toEqual({
      good: '',
      other: expect.stringContaining(`additional properties 'typo' not allowed`),
      label: expect.stringContaining(`additional properties 'label' not allowed`),
      type: expect.stringContaining(`at '/spec/${field}': got string, want`),
      twice: expect.stringContaining('key "kind" already set in map'),
    });
  });
});
