import { z } from 'zod';

/** Carries account deletions in one total order, keyed by the account's id. */
export const ACCOUNTS_TOPIC = 'taskmesh.auth.accounts';

const accountDeleted = z.object({
  kind: z.literal('DELETED'),
  /** Identifies the log: a reader that sees another epoch reads from the beginning. */
  epoch: z.int().positive(),
  /** Numbers the log's entries without gaps, from 1. */
  sequence: z.int().positive(),
  accountId: z.guid(),
  occurredAt: z.iso.datetime(),
});

/** An account was deleted for good, so other services delete what they keep for its owner. */
export type AccountDeleted = z.infer<typeof accountDeleted>;

export function encodeAccountDeleted({ kind, epoch, sequence, accountId, occurredAt }: AccountDeleted): string {
  return JSON.stringify({ kind, epoch, sequence, accountId, occurredAt });
}

/** Parses a record. Drops unknown fields, so that a newer producer may add some; throws on anything else. */
export function parseAccountDeleted(text: string): AccountDeleted {
  return accountDeleted.parse(JSON.parse(text));
}
