import { createLog } from '@taskmesh/service';
import { createTestDatabase } from '@taskmesh/testing';
import type { Database, StoreOptions } from '../database.ts';

/**
 * The SQL that would turn the migrated schema into the one the entities describe; empty when they agree.
 *
 * MikroORM does not compare storage parameters (fillfactor, autovacuum) and functions, and of triggers defined as SQL
 * only the names; these stand in the migrations alone. (The catalogue view that it reads omits TRUNCATE triggers.)
 */
export async function schemaDifference(create: (options: StoreOptions) => Promise<Database>): Promise<string> {
  const store = await createTestDatabase('schema_difference');
  const log = createLog({ service: 'schema-difference', level: 'silent' });
  const database = await create({ url: store.url, poolSize: 1, log });
  try {
    await database.migrate();
    const difference = await database.retry((em) =>
      em.getPlatform().getSchemaGenerator(em.getDriver(), em).getUpdateSchemaSQL({ wrap: false }),
    );
    return difference.trim();
  } finally {
    await database.close();
    await store.drop();
  }
}
