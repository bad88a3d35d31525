import { z } from 'zod';

/** Carries what becomes of accounts, in one order for all of them, keyed by the account's id. */
export const ACCOUNTS_TOPIC = 'taskmesh.auth.accounts';

const accountDeleted = z.object({
  kind: z.literal('DELETED'),
  /** The log's epoch: another one is another log, which is read from its beginning. */
  epoch: z.int().positive(),
  /** Numbers the log's entries without gaps, from 1. */
  sequence: z.int().positive(),
  accountId: z.guid(),
  occurredAt: z.iso.datetime(),
});

/** An account is gone for good: what others keep of its owner has to go as well. */
export type AccountDeleted = z.infer<typeof accountDeleted>;

export function encodeAccountDeleted({ kind, epoch, sequence, accountId, occurredAt }: AccountDeleted): string {
  return JSON.stringify({ kind, epoch, sequence, accountId, occurredAt });
}

/** Parses a record. Drops unknown fields, so that a newer producer may add some; throws on anything else. */
export function parseAccountDeleted(text: string): AccountDeleted {
  return accountDeleted.parse(JSON.parse(text));
}
