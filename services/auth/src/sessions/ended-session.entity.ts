import { defineEntity, p } from '@mikro-orm/core';

export const EndedSessionEntity = defineEntity({
  name: 'EndedSession',
  tableName: 'ended_sessions',
  properties: {
    sequence: p.bigint('number').primary().autoincrement(false),
    sessionId: p.uuid().unique('ended_sessions_session_id_key'),
    until: p.datetime(3).index('ended_sessions_until'),
  },
});

/** A single row, `id` 1, locked by each transaction that ends sessions: so sequences follow the order of commits. */
export const EndedSessionCounterEntity = defineEntity({
  name: 'EndedSessionCounter',
  tableName: 'ended_session_counter',
  properties: {
    id: p.integer().primary().autoincrement(false).check('id = 1'),
    last: p.bigint('number'),
  },
});
