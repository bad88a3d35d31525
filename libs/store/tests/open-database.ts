import { defineEntity, p } from '@mikro-orm/core';
import { createLog } from '@taskmesh/service';
import { createDatabase, type DatabaseOptions } from '../src/database/database.ts';

export const silent = createLog({ service: 'test', level: 'silent' });

const Thing = defineEntity({ name: 'Thing', tableName: 'things', properties: { id: p.integer().primary() } });

/** Opens the database at this URL, whose only entity is the table `things`, without migrations. */
export const openDatabase = (url: string, options: Partial<DatabaseOptions> = {}) =>
  createDatabase({ name: 'test', url, entities: [Thing], migrations: [], log: silent, ...options });
