/** Carries account deletions in one total order, keyed by the account's id. */
export const ACCOUNTS_TOPIC = 'taskmesh.auth.accounts';

/** An account was deleted for good, so other services delete what they keep for its owner. Newer producers may add fields. */
export interface AccountDeleted {
  kind: 'DELETED';
  /** Identifies the log: a reader that sees another epoch reads from the beginning. */
  epoch: number;
  /** Numbers the log's entries without gaps, from 1. */
  sequence: number;
  accountId: string;
  occurredAt: string;
}

export function encodeAccountDeleted({ kind, epoch, sequence, accountId, occurredAt }: AccountDeleted): string {
  return JSON.stringify({ kind, epoch, sequence, accountId, occurredAt });
}
