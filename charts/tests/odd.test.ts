import { parseAllDocuments } from 'yaml';
import { parseManifests, render, renderText } from './support/helm.ts';
import { containersOf, serving, workloads } from './support/manifest.ts';
import { SHIPPED_AND_ODD } from './cases.ts';
import { whyRefused } from './settings-readers.ts';
import { problemsOf } from './valid.ts';

describe.each(SHIPPED_AND_ODD)('%s', (_what, options) => {
  it('becomes objects that a server takes, with settings that the services read', async () => {
    const manifests = await render(options);
    expect(manifests.length).toBeGreaterThan(0);
    expect(manifests.flatMap(problemsOf)).toEqual([]);
    for (const { env = [] } of workloads(manifests).flatMap(({ template }) => containersOf(template)))
      for (const { name, value } of env) expect([name, typeof (value ?? '')]).toEqual([name, 'string']);
    for (const { name, env = [] } of serving(manifests).flatMap(({ template }) => containersOf(template))) {
      const values = Object.fromEntries(
        env.flatMap((each) => (each.value === undefined ? [] : [[each.name, each.value]])),
      );
      expect(whyRefused(values, name === 'all' ? undefined : [name])).toEqual([]);
    }
  });

  it('is read alike by those who know YAML 1.1 and by those who know 1.2', async () => {
    const text = await renderText(options);
    const older = parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS() as unknown);
    expect(text).not.toMatch(/: \d+(\.\d+)?e[-+]?\d+$/m); // no one reads that as a whole number
    expect(older.filter((each) => each !== null)).toEqual(parseManifests(text));
  });
});
