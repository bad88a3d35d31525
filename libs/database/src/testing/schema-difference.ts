import { createLog } from '@taskmesh/service';
import { createTestDatabase } from '@taskmesh/testing';
import type { Database, StoreOptions } from '../database.ts';

/**
 * The SQL that would lead from the migrated schema to the one that the entities describe: empty when both say the same.
 *
 * What MikroORM does not compare, and only the migrations say: storage parameters (fillfactor, autovacuum), functions,
 * and of a trigger that is told as SQL anything but its name. (PostgreSQL's catalogue of triggers, from which it reads,
 * leaves out those on TRUNCATE.)
 */
export async function schemaDifference(create: (options: StoreOptions) => Promise<Database>): Promise<string> {
  const store = await createTestDatabase('schema_difference');
  const log = createLog({ service: 'schema-difference', level: 'silent' });
  const database = await create({ url: store.url, poolSize: 1, log });
  try {
    await database.migrate();
    const em = database.em();
    const generator = em.getPlatform().getSchemaGenerator(em.getDriver(), em);
    return (await generator.getUpdateSchemaSQL({ wrap: false })).trim();
  } finally {
    await database.close();
    await store.drop();
  }
}
