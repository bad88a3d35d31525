import { defineEntity, p } from '@mikro-orm/core';
import { createLog } from '@taskmesh/service';
import { atEnd } from '@taskmesh/testing';
import { createDatabase, type DatabaseOptions } from '../src/database/database.ts';

export const silent = createLog({ service: 'test', level: 'silent' });

const Thing = defineEntity({ name: 'Thing', tableName: 'things', properties: { id: p.integer().primary() } });

/** Opens the database at this URL, whose only entity is the table `things`, without migrations, until the end of the test or file. */
export async function openDatabase(url: string, options: Partial<DatabaseOptions> = {}) {
  const usual = { name: 'test', entities: [Thing], migrations: [], log: silent };
  const database = await createDatabase({ ...usual, url, ...options });
  atEnd(() => database.close());
  return database;
}
