import type { TaskChanged } from '@taskmesh/contracts';
import { count } from '@taskmesh/service';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Holding } from '../http/memory.ts';

/** The cost of each change in addition to the objects of its result: its text, and a frame for each subscription. */
const COST_PER_RENDERING = 250;
/** What the live subscriptions and channels of a network may keep, with however many accounts; those of all twice as much. */
const MAX_NETWORK_BYTES = 32 * 1024 * 1024;
/** Networks that keep at most this much may exceed the limit for all. */
const SMALL_NETWORK_BYTES = 2 * 1024 * 1024;
/** Memory of each subscription or channel, without its document, variables, topic and refs. */
const STREAM_BYTES = 8 * 1024;
/** Memory of a variable per character of its JSON. */
const VARIABLE_BYTES = 64;
/** Limit for the changes that wait for an account's subscriptions: hundreds of the largest, which a bulk edit makes in seconds. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Memory of a change per character of its JSON: its objects take no more than the names and signs of the JSON. */
const CHANGE_BYTES = 2;
/** Memory of each place where a change waits. All subscriptions of an account share the change itself. */
const WAITING_EVENT_BYTES = 128;
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
  network: string;
}

/** One object for all subscriptions that share it. */
interface LiveDocument {
  /** Grows with each type of object that is first encountered. */
  readonly bytes: number;
}

const NO_DOCUMENT: LiveDocument = { bytes: 0 }; // of channels

/** What the subscriptions and channels of a network, or of all networks, keep. */
interface Kept {
  /** The number of streams by document. */
  documents: Map<LiveDocument, number>;
  ownBytes: number;
}

const bytesOf = ({ documents, ownBytes }: Kept) =>
  [...documents.keys()].reduce((sum, { bytes }) => sum + bytes, ownBytes);

/** Limits what subscriptions and channels keep, and an account's cost of one change, over all sockets and streams of this gateway. */
export type AccountShares = ReturnType<typeof createAccountShares>;
export type AccountShare = NonNullable<ReturnType<AccountShares['reserve']>>;

interface Account {
  cost: number;
  /** The number of its subscriptions by key, and what the first of them added to the cost: another graph may weigh them otherwise. */
  renderings: Map<string, { streams: number; cost: number }>;
  /** Runs the work of one event, so that no account monopolizes the process. */
  runLimited: LimitFunction;
  /** Changes that wait for other services, each with what ends the subscriptions for which it waits. */
  waiting: Map<TaskChanged, { bytes: number; ends: Set<() => void> }>;
  waitingBytes: number;
  /** Of its first subscription. */
  network: string;
}

/** `maxCost` limits the sum of all results of one change; 0: no limit. Each of a network's `maxSockets` may have two streams. */
export function createAccountShares(maxCost: number, maxSockets = 0) {
  const maxBytes = Math.max(MAX_NETWORK_BYTES, 2 * maxSockets * STREAM_BYTES);
  const accounts = new Map<string, Account>();
  /** Those of them for which changes wait. */
  const behind = new Map<string, Account>();
  const networks = new Map<string, Kept>();
  const all: Kept = { documents: new Map(), ownBytes: 0 };

  /**
   * Counts a subscription or channel that keeps `moreBytes` and its document. Returns a function that releases them; undefined
   * if those of its network would exceed a limit.
   */
  const takeRoom = (network: string, moreBytes: number, document = NO_DOCUMENT): (() => void) | undefined => {
    const ownBytes = STREAM_BYTES + moreBytes;
    const bytesWith = (kept: Kept) => bytesOf(kept) + ownBytes + (kept.documents.has(document) ? 0 : document.bytes);
    const ofNetwork: Kept = networks.get(network) ?? { documents: new Map(), ownBytes: 0 };
    const bytes = bytesWith(ofNetwork);
    if (bytes > maxBytes || (bytes > SMALL_NETWORK_BYTES && bytesWith(all) > 2 * maxBytes)) return undefined;
    networks.set(network, ofNetwork);
    const add = (sign: 1 | -1) => {
      for (const kept of [ofNetwork, all]) {
        count(kept.documents, document, sign);
        kept.ownBytes += sign * ownBytes;
      }
    };
    add(1);
    return () => {
      add(-1);
      if (ofNetwork.documents.size === 0) networks.delete(network);
    };
  };

  /** The first one is always admitted: a strict limit for documents must not switch subscriptions off. */
  const affords = (accountId: string, cost: number): boolean =>
    maxCost === 0 || (accounts.get(accountId)?.cost ?? -Infinity) + COST_PER_RENDERING + cost <= maxCost;

  return {
    takeRoom,
    /** Whether the account may have another result of this cost, for subscriptions that share none yet. */
    affords,
    /**
     * A subscription's share in the cost of each change of its account. Undefined if the subscriptions of its account or
     * network would exceed a limit. The cost of equal keys counts only once, and so does the memory of a document.
     */
    reserve(accountId: string, { key, document, variableCharacters, network, ...claim }: Claim) {
      const account: Account = accounts.get(accountId) ?? {
        cost: 0,
        renderings: new Map(),
        runLimited: pLimit(MAX_CONCURRENT_RESULTS),
        waiting: new Map(),
        waitingBytes: 0,
        network,
      };
      const known = account.renderings.get(key);
      const rendering = known ?? { streams: 0, cost: COST_PER_RENDERING + claim.cost };
      if (!known && !affords(accountId, claim.cost)) return undefined;
      const free = takeRoom(network, VARIABLE_BYTES * variableCharacters, document);
      if (!free) return undefined;

      accounts.set(accountId, account);
      account.renderings.set(key, rendering);
      rendering.streams++;
      if (!known) account.cost += rendering.cost;
      return {
        runLimited: account.runLimited,
        /** A change waits for a subscription, which `end` ends. Returns false if too much waits for the account. */
        keep(change: TaskChanged, end: () => void): boolean {
          const kept = account.waiting.get(change) ?? {
            bytes: CHANGE_BYTES * JSON.stringify(change).length,
            ends: new Set(),
          };
          account.waiting.set(change, kept);
          behind.set(accountId, account);
          account.waitingBytes += WAITING_EVENT_BYTES + (kept.ends.size === 0 ? kept.bytes : 0);
          kept.ends.add(end);
          return account.waitingBytes <= MAX_WAITING_BYTES;
        },
        /** The change no longer waits for that subscription. */
        drop(change: TaskChanged, end: () => void): void {
          const kept = account.waiting.get(change);
          if (!kept?.ends.delete(end)) return;
          account.waitingBytes -= WAITING_EVENT_BYTES + (kept.ends.size === 0 ? kept.bytes : 0);
          if (kept.ends.size === 0) account.waiting.delete(change);
          if (account.waiting.size === 0) behind.delete(accountId);
        },
        release() {
          free();
          if (--rendering.streams > 0) return;
          account.renderings.delete(key);
          account.cost -= rendering.cost;
          if (account.renderings.size === 0) accounts.delete(accountId);
        },
      };
    },
    /** The changes that wait for each account. Their eviction ends the subscriptions for which they wait. */
    waiting: (): Holding[] =>
      [...behind].map(([account, { network, waiting, waitingBytes: bytes }]) => ({
        ...{ bytes, account, network },
        evict() {
          for (const { ends } of waiting.values()) for (const end of ends) end();
        },
      })),
  };
}
