import { parseAllDocuments } from 'yaml';
import { parseManifests, render, renderText } from '../tools/helm.ts';
import { containersOf, workloads } from '../tools/manifest.ts';
import { SHIPPED_AND_ODD } from './cases.ts';
import { problemsOf } from './valid.ts';

describe.each(SHIPPED_AND_ODD)('%s', (_what, options) => {
  it('becomes objects that a server takes', async () => {
    const manifests = await render(options);
    expect(manifests.length).toBeGreaterThan(0);
    expect(manifests.flatMap(problemsOf)).toEqual([]);
    for (const { env = [] } of workloads(manifests).flatMap(({ template }) => containersOf(template)))
      for (const { name, value } of env) expect([name, typeof (value ?? '')]).toEqual([name, 'string']);
  });

  it('is read alike by those who know YAML 1.1 and by those who know 1.2', async () => {
    const text = await renderText(options);
    const older = parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS() as unknown);
    expect(text).not.toMatch(/: \d+(\.\d+)?e[-+]?\d+$/m); // nobody reads that as a whole number
    expect(older.filter((each) => each !== null)).toEqual(parseManifests(text));
  });
});
