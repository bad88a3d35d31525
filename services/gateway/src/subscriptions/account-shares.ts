import { count } from '@taskmesh/service';
import pLimit, { type LimitFunction } from 'p-limit';

/** The cost of each change in addition to the objects of its result: its text, and a frame for each subscription. */
const COST_PER_RENDERING = 250;
/**
 * Limit for an account's live subscriptions, in characters of documents and variables: 400 subscriptions with 600 each. A
 * live document takes about 40 bytes per character.
 */
const MAX_CHARACTERS = 256 * 1024;
/** Limit for all distinct documents of live subscriptions together. Accounts below `SMALL_ACCOUNT_CHARACTERS` may exceed it. */
const MAX_DOCUMENT_CHARACTERS = 1536 * 1024;
const SMALL_ACCOUNT_CHARACTERS = 8 * 1024;
/** How many results of an account are produced concurrently. */
const MAX_CONCURRENT_RESULTS = 2;

/** The resources that a subscription needs for as long as it lives. */
export interface Claim {
  /** Equal for subscriptions that share their results. */
  key: string;
  /** The cost of each result. */
  cost: number;
  source: string;
  /** The length of the variables as JSON. */
  variableCharacters: number;
}

/** Limits the memory of an account's subscriptions, and the cost of one change, over all sockets and streams of this gateway. */
export type AccountShares = ReturnType<typeof createAccountShares>;

interface Account {
  cost: number;
  characters: number;
  /** The number of its subscriptions by key. */
  renderings: Map<string, number>;
  /** Runs the work of one event, so that no account monopolizes the process. */
  runLimited: LimitFunction;
}

/** `maxCost` limits the sum of all results of one change; 0: no limit. */
export function createAccountShares(maxCost: number) {
  const accounts = new Map<string, Account>();
  const documents = new Map<string, number>();
  let documentCharacters = 0;

  return {
    /** A subscription's share in the cost of each change of its account. Undefined if the account's subscriptions would exceed a limit. The cost and document of equal keys count only once. */
    reserve(accountId: string, { key, source, variableCharacters, ...claim }: Claim) {
      const account = accounts.get(accountId) ?? {
        ...{
          cost: 0,
          characters: 0,
          renderings: new Map<string, number>(),
          runLimited: pLimit(MAX_CONCURRENT_RESULTS),
        },
      };
      const isKnown = account.renderings.has(key);
      const cost = isKnown ? 0 : COST_PER_RENDERING + claim.cost;
      // The first one is always admitted: a strict limit for documents must not switch subscriptions off.
      if (maxCost > 0 && account.renderings.size > 0 && cost > 0 && account.cost + cost > maxCost) return undefined;
      const characters = account.characters + variableCharacters + (isKnown ? 0 : source.length);
      if (characters > MAX_CHARACTERS) return undefined;
      const isCrowded = !documents.has(source) && documentCharacters + source.length > MAX_DOCUMENT_CHARACTERS;
      if (isCrowded && characters > SMALL_ACCOUNT_CHARACTERS) return undefined;

      accounts.set(accountId, account);
      count(account.renderings, key, 1);
      if (count(documents, source, 1) === 1) documentCharacters += source.length;
      account.cost += cost;
      account.characters = characters;
      return {
        runLimited: account.runLimited,
        release() {
          account.characters -= variableCharacters;
          if (count(documents, source, -1) === 0) documentCharacters -= source.length;
          if (count(account.renderings, key, -1) > 0) return;
          account.characters -= source.length;
          account.cost -= COST_PER_RENDERING + claim.cost;
          if (account.renderings.size === 0) accounts.delete(accountId);
        },
      };
    },
  };
}
