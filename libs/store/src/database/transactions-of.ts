import type { EntityManager } from '@mikro-orm/core';
import type { Database } from './database.ts';

/**
 * How a repository offers the statements of one transaction: all of `work`, or nothing of it. What is changed of loaded entities
 * is saved with it. Repeated if the database was unavailable and certainly changed nothing. Those with the same `turn` run one after
 * the other.
 */
export function transactionsOf<Statements>(
  database: Pick<Database, 'inTransaction'>,
  statementsOf: (em: EntityManager) => Statements,
) {
  return <Result>(work: (transaction: Statements) => Promise<Result>, turn?: string): Promise<Result> =>
    database.inTransaction((em) => work(statementsOf(em)), turn);
}
