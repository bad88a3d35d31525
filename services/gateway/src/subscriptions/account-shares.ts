import { count } from '@taskmesh/service';
import pLimit, { type LimitFunction } from 'p-limit';

/** What each change costs besides the objects of the result: its text, and a frame for each subscription. */
const COST_PER_RENDERING = 250;
/**
 * What the live subscriptions of an account keep, in characters of documents and variables: 400 subscriptions with 600 each. A
 * document takes some 40 bytes for each of them while it is live.
 */
const MAX_CHARACTERS = 256 * 1024;
/** What all distinct documents of live subscriptions may have together, beside those of accounts that keep little. */
const MAX_DOCUMENT_CHARACTERS = 1536 * 1024;
const LITTLE_CHARACTERS = 8 * 1024;
/** How much of an account's results is put together in one turn of the event loop. */
const AT_ONCE = 2;

/** A subscription's part in what each change of its account costs. */
export interface Share {
  /** Runs the work of one event, so that no account takes the process for itself. */
  readonly inTurn: LimitFunction;
  release(): void;
}

/** What a subscription asks of the gateway for as long as it lives. */
export interface Claim {
  /** Equal for subscriptions that share their results. */
  key: string;
  /** Of each result. */
  cost: number;
  source: string;
  /** Of the variables, as JSON. */
  variableCharacters: number;
}

/** Bounds what an account's subscriptions keep, and what one change costs, on all sockets and streams of this gateway together. */
export interface AccountShares {
  /** Undefined when the account's subscriptions would exceed a limit. Those with equal keys count their cost and document once. */
  take(accountId: string, claim: Claim): Share | undefined;
}

interface Account {
  cost: number;
  characters: number;
  /** The keys of its subscriptions. */
  renderings: Map<string, number>;
  inTurn: LimitFunction;
}

/** `maxCost` is the limit for the sum of all results of one change; 0: none. */
export function createAccountShares(maxCost: number): AccountShares {
  const accounts = new Map<string, Account>();
  const documents = new Map<string, number>();
  let documentCharacters = 0;

  return {
    take(accountId, { key, source, variableCharacters, ...claim }) {
      const account = accounts.get(accountId) ?? {
        ...{ cost: 0, characters: 0, renderings: new Map<string, number>(), inTurn: pLimit(AT_ONCE) },
      };
      const isKnown = account.renderings.has(key);
      const cost = isKnown ? 0 : COST_PER_RENDERING + claim.cost;
      // The first one is always admitted: a strict limit for documents must not switch subscriptions off.
      if (maxCost > 0 && account.renderings.size > 0 && cost > 0 && account.cost + cost > maxCost) return undefined;
      const characters = account.characters + variableCharacters + (isKnown ? 0 : source.length);
      if (characters > MAX_CHARACTERS) return undefined;
      const isCrowded = !documents.has(source) && documentCharacters + source.length > MAX_DOCUMENT_CHARACTERS;
      if (isCrowded && characters > LITTLE_CHARACTERS) return undefined;

      accounts.set(accountId, account);
      count(account.renderings, key, 1);
      if (count(documents, source, 1) === 1) documentCharacters += source.length;
      account.cost += cost;
      account.characters = characters;
      return {
        inTurn: account.inTurn,
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
