import { eventually } from '@taskmesh/testing';
import { register } from '../../http.ts';
import { describeReal, installationForTests } from './installation.ts';
import { kubectl, list, podsOf } from './kubectl.ts';
import { PREFIX } from './release.ts';
import { databaseOf, sql } from './servers.ts';

const FUTURE = '99999999999999_of-a-newer-version';

describeReal('an impossible upgrade (not on nodes that run nothing)', () => {
  const product = installationForTests();

  const generations = () => list('deployments', product().namespace, '.metadata.name}={.metadata.generation');
  const logs = (of: string) => kubectl(['logs', '-n', product().namespace, of, '--tail=-1']);
  const upgrade = (...sets: string[]) =>
    product().release.change('upgrade', ...['pod.annotations.tried=again', ...sets].flatMap((each) => ['--set', each]));
  const expectNothingReplaced = async (before: string[]) => {
    expect(await generations()).toEqual(before);
    await register(product().way.url);
  };

  it('names the missing secret, and changes nothing', async () => {
    const before = await generations();
    const secret = ['get', 'secret', '-n', product().namespace, 'taskmesh-redis', '-o', 'json'];
    const kept = await kubectl(secret);
    await kubectl(['delete', 'secret', '-n', product().namespace, 'taskmesh-redis']);
    await expect(upgrade()).rejects.toThrow('preflight');
    expect(await logs(`job/${PREFIX}-preflight`)).toContain(
      'The secret taskmesh-redis has no key redis-url, or does not exist: create it, or name another one at redis of the chart',
    );
    await expectNothingReplaced(before);
    await kubectl(['create', '-f', '-'], kept.replace(/"(resourceVersion|uid|creationTimestamp)": "[^"]*",?/g, ''));
  }, 300_000);

  it('names the setting of a server that refuses the login, and changes nothing', async () => {
    const before = await generations();
    const url = 'postgres://postgres:wrong@postgresql.taskmesh-test-servers.svc:5432/postgres';
    const make = ['create', 'secret', 'generic', '-n', product().namespace, 'wrong', `--from-literal=auth-url=${url}`];
    await kubectl(make);
    await expect(upgrade('postgresql.auth.existingSecret=wrong')).rejects.toThrow('preflight');
    expect(await logs(`job/${PREFIX}-preflight`)).toMatch(/POSTGRES_URL/);
    expect(await logs(`job/${PREFIX}-preflight`)).not.toContain('wrong@');
    await expectNothingReplaced(before);
  }, 300_000);

  describe('on the schema of a newer version', () => {
    const migrate = `insert into mikro_orm_migrations (name) values ('${FUTURE}')`;
    beforeAll(() => sql(databaseOf(product().namespace, 'auth'), migrate));

    it('stops at the migration, and the previous version keeps running', async () => {
      const before = await generations();
      await expect(upgrade()).rejects.toThrow('migrate');
      expect(await logs(`job/${PREFIX}-migrate-auth`)).toContain(FUTURE);
      await expectNothingReplaced(before);
    }, 300_000);

    it('a new pod names the unknown migration and stays unready, while the others keep serving', async () => {
      const { namespace } = product();
      const [first = '', second = ''] = await podsOf(namespace, 'auth');
      await kubectl(['delete', 'pod', '-n', namespace, first]);
      const fresh = await eventually(async () => {
        const found = (await podsOf(namespace, 'auth')).find((name) => name !== first && name !== second);
        expect(await logs(found ?? '')).toContain(`newer version, with ${FUTURE}`);
        return found ?? '';
      }, { timeoutMs: 120_000, everyMs: 500 }); // prettier-ignore
      const ready = await list('pods', namespace, '.metadata.name}={.status.containerStatuses[0].ready');
      expect(ready).toEqual(expect.arrayContaining([`${fresh}=false`, `${second}=true`]));
      await register(product().way.url);
    }, 180_000);

    it('continues if the newer schema is explicitly allowed, as in a rollback', async () => {
      await upgrade('migrations.newerSchema=allow');
      await register(product().way.url);
    }, 300_000);
  });
});
