import { render, valuesFiles } from './support/helm.ts';
import { containersOf, serving, workloads } from './support/manifest.ts';

describe.each(valuesFiles('taskmesh'))('every pod with %s', (values) => {
  it('keeps to the restricted standard, and writes only to volumes', async () => {
    const all = workloads(await render({ values }));
    expect(all.length).toBeGreaterThan(0);
    for (const { template } of all) {
      expect(template.spec.securityContext).toEqual({
        runAsNonRoot: true,
        ...(values !== 'values-openshift.yaml' && { runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001 }),
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const { securityContext } of containersOf(template))
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          privileged: false,
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
          capabilities: { drop: ['ALL'] },
        });
    }
  });

  it('uses no more of its node’s disk than it may', async () => {
    for (const { template } of workloads(await render({ values })))
      for (const { name, emptyDir } of template.spec.volumes ?? [])
        if (emptyDir && name !== 'more') expect([name, emptyDir]).toEqual([name, { sizeLimit: expect.any(String) }]); // `more` is the user's
  });

  it('has an account of its own without a token, unless it makes the keys', async () => {
    const manifests = await render({ values });
    const accounts = manifests.filter(({ kind }) => kind === 'ServiceAccount');
    for (const { automountServiceAccountToken } of accounts) expect(automountServiceAccountToken).toBe(false);
    for (const { template, metadata } of workloads(manifests)) {
      expect(accounts.map(({ metadata: { name } }) => name)).toContain(template.spec.serviceAccountName);
      expect([metadata.name, template.spec.automountServiceAccountToken]).toEqual([
        metadata.name,
        /-keys$/.test(metadata.name),
      ]);
    }
  });

  it('has requests and a limit of memory, and an image with a version', async () => {
    for (const container of workloads(await render({ values })).flatMap(({ template }) => containersOf(template))) {
      expect(container.resources).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
      expect(container.resources?.limits).not.toHaveProperty('cpu');
      expect(container.image).toMatch(/(:\d+\.\d+\.\d+(-all)?|@sha256:[0-9a-f]{64})$/);
    }
  });

  it('says each variable, volume and mount once, and mounts what is there', async () => {
    for (const { template } of workloads(await render({ values }))) {
      const volumes = (template.spec.volumes ?? []).map(({ name }) => name);
      expect(new Set(volumes).size).toBe(volumes.length);
      for (const { env = [], volumeMounts = [] } of containersOf(template)) {
        expect(env.map(({ name }) => name).toSorted()).toEqual([...new Set(env.map(({ name }) => name))].toSorted());
        expect(new Set(volumeMounts.map(({ mountPath }) => mountPath)).size).toBe(volumeMounts.length);
        for (const { name } of volumeMounts) expect(volumes).toContain(name);
        for (const { value = '' } of env) expect(value).not.toMatch(/^\d+(\.\d+)?e\+\d+$/);
      }
    }
  });

  it('that serves has probes for start, life and readiness, and time to end', async () => {
    for (const { template } of serving(await render({ values })))
      for (const container of template.spec.containers) {
        const probe = (path: string) => expect.objectContaining({ httpGet: { path, port: 'admin' } });
        expect(container).toMatchObject({
          startupProbe: probe('/livez'),
          livenessProbe: probe('/livez'),
          readinessProbe: probe('/readyz'),
          lifecycle: { preStop: { sleep: { seconds: expect.any(Number) } } },
        });
      }
  });
});
