import { count } from '@taskmesh/service';
import pLimit, { type LimitFunction } from 'p-limit';

/** The cost of each change in addition to the objects of its result: its text, and a frame for each subscription. */
const COST_PER_RENDERING = 250;
/** Limit for the documents and variables of an account's live subscriptions. */
const MAX_ACCOUNT_BYTES = 16 * 1024 * 1024;
/**
 * The same for all accounts together, each document counted once. Accounts with at most `SMALL_ACCOUNT_BYTES` besides documents that
 * others have, too, may exceed it.
 */
const MAX_BYTES = 64 * 1024 * 1024;
const SMALL_ACCOUNT_BYTES = 512 * 1024;
/** Memory of a variable per character of its JSON. */
const VARIABLE_BYTES = 64;
/** How many results of an account are produced concurrently. */
const MAX_CONCURRENT_RESULTS = 2;

/** The resources that a subscription needs for as long as it lives. */
export interface Claim {
  /** Equal for subscriptions that share their results. */
  key: string;
  /** The cost of each result. */
  cost: number;
  document: LiveDocument;
  /** The length of the variables as JSON. */
  variableCharacters: number;
}

/** One object for all subscriptions that share it. */
interface LiveDocument {
  /** Grows with each combination of conditions that is rendered. */
  readonly bytes: number;
}

/** What the subscriptions of an account, or of all accounts, keep. */
interface Kept {
  /** The number of subscriptions by document. */
  documents: Map<LiveDocument, number>;
  variableBytes: number;
}

const bytesOf = ({ documents, variableBytes }: Kept) =>
  [...documents.keys()].reduce((sum, { bytes }) => sum + bytes, variableBytes);

/** Limits the memory of an account's subscriptions, and the cost of one change, over all sockets and streams of this gateway. */
export type AccountShares = ReturnType<typeof createAccountShares>;

interface Account extends Kept {
  cost: number;
  /** The number of its subscriptions by key. */
  renderings: Map<string, number>;
  /** Runs the work of one event, so that no account monopolizes the process. */
  runLimited: LimitFunction;
}

/** `maxCost` limits the sum of all results of one change; 0: no limit. */
export function createAccountShares(maxCost: number) {
  const accounts = new Map<string, Account>();
  const all: Kept = { documents: new Map(), variableBytes: 0 };

  return {
    /**
     * A subscription's share in the cost of each change of its account. Undefined if the account's subscriptions would exceed
     * a limit. The cost of equal keys counts only once, and so does the memory of a document.
     */
    reserve(accountId: string, { key, document, variableCharacters, ...claim }: Claim) {
      const account: Account = accounts.get(accountId) ?? {
        cost: 0,
        documents: new Map(),
        variableBytes: 0,
        renderings: new Map(),
        runLimited: pLimit(MAX_CONCURRENT_RESULTS),
      };
      const cost = account.renderings.has(key) ? 0 : COST_PER_RENDERING + claim.cost;
      // The first one is always admitted: a strict limit for documents must not switch subscriptions off.
      if (maxCost > 0 && account.renderings.size > 0 && cost > 0 && account.cost + cost > maxCost) return undefined;
      const variableBytes = VARIABLE_BYTES * variableCharacters;
      const bytesWith = (kept: Kept) =>
        bytesOf(kept) + variableBytes + (kept.documents.has(document) ? 0 : document.bytes);
      const bytes = bytesWith(account);
      if (bytes > MAX_ACCOUNT_BYTES) return undefined;
      const isShared = (each: LiveDocument) => (all.documents.get(each) ?? 0) > (account.documents.get(each) ?? 0);
      const shared = new Set([document, ...account.documents.keys()].filter(isShared));
      const ownBytes = bytes - [...shared].reduce((sum, each) => sum + each.bytes, 0);
      if (ownBytes > SMALL_ACCOUNT_BYTES && bytesWith(all) > MAX_BYTES) return undefined;

      accounts.set(accountId, account);
      count(account.renderings, key, 1);
      account.cost += cost;
      for (const kept of [account, all]) {
        count(kept.documents, document, 1);
        kept.variableBytes += variableBytes;
      }
      return {
        runLimited: account.runLimited,
        release() {
          for (const kept of [account, all]) {
            count(kept.documents, document, -1);
            kept.variableBytes -= variableBytes;
          }
          if (count(account.renderings, key, -1) > 0) return;
          account.cost -= COST_PER_RENDERING + claim.cost;
          if (account.renderings.size === 0) accounts.delete(accountId);
        },
      };
    },
  };
}
