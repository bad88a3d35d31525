import { defineEntity, p } from '@mikro-orm/core';
import { createLog } from '@taskmesh/service';
import { createTestDatabase } from '@taskmesh/testing';
import { createDatabase } from './database.ts';

const Thing = defineEntity({ name: 'Thing', properties: { id: p.integer().primary() } });

it('ends its connections when it is closed, whether or not the ORM has used them', async () => {
  const store = await createTestDatabase('closing');
  const log = createLog({ service: 'closing', level: 'silent' });
  try {
    for (const usesOrm of [false, true]) {
      const database = await createDatabase({
        name: 'closing',
        url: store.url,
        entities: [Thing],
        migrations: [],
        log,
      });
      const statement = { name: 'one', text: 'select 1 as one' };
      expect(await database.run('read', statement, [])).toEqual([{ one: 1 }]);
      if (usesOrm) await database.em().getConnection().execute('select 1');
      expect(database.pool.totalCount).toBe(1);
      await database.close();
      expect([usesOrm, database.pool.ended, database.pool.totalCount]).toEqual([usesOrm, true, 0]);
    }
  } finally {
    await store.drop();
  }
});
