import { defineEntity, p } from '@mikro-orm/core';
import { createLog } from '@taskmesh/service';
import { createTestDatabase } from '@taskmesh/testing';
import { createDatabase } from './database.ts';

const Note = defineEntity({ name: 'Note', properties: { id: p.integer().primary() } });

it('plans statements to last, and compiles none, whatever the server does by itself', async () => {
  const store = await createTestDatabase('settings');
  const database = await createDatabase({
    ...{ name: 'settings', url: store.url, entities: [Note], migrations: [], poolSize: 1 },
    log: createLog({ service: 'test', level: 'silent' }),
  });
  const settings = `select current_setting('jit') as jit, current_setting('enable_seqscan') as scans`;
  try {
    for (const setting of ['jit', 'enable_seqscan'])
      await store.query(`alter database ${new URL(store.url).pathname.slice(1)} set ${setting} = on`);
    expect((await database.pool.query(settings)).rows).toEqual([{ jit: 'off', scans: 'off' }]);
    const session = await database.openSession();
    expect(await session.run({ name: 'settings', text: settings })).toEqual([{ jit: 'off', scans: 'off' }]);
    await session.close();
  } finally {
    await database.close();
    await store.drop();
  }
});
