import { render } from './support/helm.ts';
import { serving } from './support/manifest.ts';
import { containerOf, envOf, named } from './containers.ts';

describe('the trial', () => {
  const values = 'values-trial.yaml';

  it('is one pod with one volume, without prerequisites', async () => {
    const manifests = await render({ values });
    expect(named(manifests, 'Service', 'shop-taskmesh')?.spec).toMatchObject({
      ports: [{ port: 80, targetPort: 'http' }],
    });
    const [pod, ...others] = serving(manifests);
    expect(others).toEqual([]);
    expect(pod).toMatchObject({ kind: 'Deployment', spec: { replicas: 1, strategy: { type: 'Recreate' } } });
    const { env = [], args, image } = await containerOf('all', { values });
    expect([image, args]).toEqual(['taskmesh:0.2.0-all', ['all']]);
    expect(env.some(({ valueFrom }) => valueFrom)).toBe(false);
    expect(manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toHaveLength(1);
    const hooks = manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']?.includes('install'));
    expect(hooks).toEqual([]);
  });

  it('runs as the user of its image, or not at all', async () => {
    for (const user of ['', 10002]) {
      const rendering = render({ values, set: { 'podSecurityContext.runAsUser': user } });
      await expect(rendering).rejects.toThrow('podSecurityContext.runAsUser must be 10001');
    }
  });

  it('accepts existing secrets for mails and archives', async () => {
    const secrets = { 'auth.smtp': 'smtp', 'backup.s3': 'bucket', 'backup.encryption': 'age' };
    const set = Object.fromEntries(Object.entries(secrets).map(([of, name]) => [`${of}.existingSecret`, name]));
    expect(envOf(await containerOf('all', { values, set }))).toMatchObject({
      SMTP_URL: 'smtp/smtp-url',
      BACKUP_S3_URL: 'bucket/s3-url',
      BACKUP_KEY_FILE: '/etc/taskmesh/encryption/keys.txt',
    });
  });
});

describe('volumes', () => {
  it('with data survive the removal of the release', async () => {
    for (const values of ['values.yaml', 'values-trial.yaml']) {
      const claims = (await render({ values })).filter(({ kind }) => kind === 'PersistentVolumeClaim');
      expect(claims).toHaveLength(1);
      expect(claims[0]?.metadata.annotations).toMatchObject({
        'helm.sh/resource-policy': 'keep',
        'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
      });
    }
  });

  it.each([
    { set: { 'backup.persistence.existingClaim': 'mine' }, volume: { persistentVolumeClaim: { claimName: 'mine' } } },
    { set: { 'backup.s3.existingSecret': 'bucket' }, volume: undefined },
    { set: { backup: { persistence: { enabled: false, size: '7Gi' } } }, volume: { emptyDir: { sizeLimit: '7Gi' } } },
  ])('of backups are created only when they are needed: $set', async ({ set, volume }) => {
    const manifests = await render({ set });
    expect(manifests.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([]);
    const backup = serving(manifests).find(({ metadata }) => metadata.name.endsWith('-backup'));
    const found = backup?.template.spec.volumes?.filter(({ name }) => name === 'backups');
    expect(found).toEqual(volume ? [{ name: 'backups', ...volume }] : []);
  });

  it('without a claim are limited to the size of one', async () => {
    const [pod] = serving(
      await render({ values: 'values-trial.yaml', set: { 'allInOne.persistence.enabled': false } }),
    );
    expect(pod?.template.spec.volumes).toContainEqual({ name: 'data', emptyDir: { sizeLimit: '10Gi' } });
  });
});
