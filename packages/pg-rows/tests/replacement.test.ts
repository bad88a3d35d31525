import { administer, atEnd, connectClient, requiredAddress } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import { copySettings } from '../src/replacement/index.ts';

it('takes names of databases literally, also where they look like replacement patterns or marks', async () => {
  const names = ['$$ $& $fresh it’s', '$live'].map((name) => `${name} ${randomBytes(4).toString('hex')}`);
  const [from, to] = await Promise.all(
    names.map(async (name) => {
      await administer(`create database "${name}"`);
      atEnd(() => administer(`drop database "${name}" with (force)`));
      return connectClient(
        Object.assign(new URL(requiredAddress('POSTGRES_URL')), { pathname: `/${encodeURI(name)}` }).href,
      );
    }),
  );
  if (!from || !to) throw new Error('There are two.');
  await from.query(`comment on database "${names[0]}" is 'kept'`);
  expect(await copySettings({ from, to })).toEqual([]);
  const comment = `select shobj_description(oid, 'pg_database') as comment from pg_database where datname = $1`;
  expect((await to.query(comment, [names[1]])).rows).toEqual([{ comment: 'kept' }]);
});
