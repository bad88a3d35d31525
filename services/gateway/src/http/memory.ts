import { unavailable } from '@taskmesh/contracts';
import { collectGarbage, count, createMeters, type Log } from '@taskmesh/service';
import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Registry } from 'prom-client';

/** Limit for requests until they are answered. An anonymous client's body is read before its sender is known. */
const MAX_REQUEST_BYTES = 32 * 1024 * 1024;
/** Limit for requests being processed for one network. Accounts have none of their own: one client may have many. */
const MAX_SHARE_BYTES = MAX_REQUEST_BYTES / 2;
/** Eviction also makes room for one more request of maximum size, so that the next piece does not trigger it again. */
const RELIEF_BYTES = 1024 * 1024;
/** Slow readers are cut off until memory is down to this share of the limit, for the same reason. */
const RELIEVED_SHARE = 0.75;
const CHECK_EVERY_MS = 100;
/** V8's limit of the heap includes its young generation: three times the semi-space that images, the chart and `npm start` set. */
const YOUNG_BYTES = 3 * 32 * 1024 * 1024;
/** Live memory is short above this share of the rest of the limit. */
const MAX_LIVE_SHARE = 0.7;
/** While memory is short, it is measured again after this time. */
const RECHECK_MS = 2_000;
/** The share of the limit that may be used while memory is short. */
const SHORT_SHARE = 0.25;

/** Memory held for a client: a request until it is answered, a response that waits to be read, or changes for its streams. */
export interface Holding {
  bytes: number;
  readonly network: string;
  /** For evictions. Undefined if unknown: a response then counts on its own, a body together with others of its network. */
  readonly account?: string | undefined;
  /** When it began to arrive. Of an account's holdings, the oldest is evicted first; those without this by size. */
  readonly since?: number;
  /** Evicts it: ends it at once and frees its memory. Absent while it is being processed. */
  evict?: (() => void) | undefined;
}

export type Memory = ReturnType<typeof createMemory>;

export interface MemoryDeps {
  /** For all requests and unread answers together. */
  maxBytes: number;
  metrics: Registry;
  log: Log;
}

/**
 * Limits all memory that clients make the gateway keep. Those who hold the most are evicted first: see `relieve`. In addition,
 * while the live memory of the whole process is short, for any reason, nothing is accepted that would need much more.
 */
export function createMemory({ maxBytes, metrics, log }: MemoryDeps) {
  /** With the bytes that count as being processed: others can be evicted, so those of one network may use all of the room. */
  const requests = new Map<Holding, number>();
  const processedBytes = new Map<string, number>();
  const sources: (() => Holding[])[] = [];
  let requestBytes = 0;
  /** External memory that WebAssembly reserved at the start; it uses hardly any of it. */
  let reservedBytes = 0;
  let isShort = false;
  let notedMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const unread = () => sources.flatMap((find) => find());
  const arriving = () => [...requests.keys()].filter(({ evict }) => evict);
  /** Call this right after a major collection. Later, more and more of the used memory is garbage. */
  const noteLive = () => {
    const { used_heap_size: used, external_memory: external, heap_size_limit: most } = getHeapStatistics();
    const liveShare = (used + external - reservedBytes) / (most - YOUNG_BYTES);
    notedMs = performance.now();
    gauge.set(liveShare);
    if (liveShare > MAX_LIVE_SHARE === isShort) return;
    isShort = !isShort;
    const what = isShort ? 'memory is short: what would take much of it is refused' : 'memory is no longer short';
    log.warn({ used, external, most, requestBytes, unreadBytes: sumOf(unread()) }, what);
  };
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isMajorCollection)) noteLive();
  });
  const check = () => {
    if (isShort && performance.now() - notedMs >= RECHECK_MS) {
      collectGarbage(); // refused requests create too little garbage for V8 to collect it by itself
      noteLive();
    }
    const waiting = unread();
    const limit = isShort ? maxBytes * SHORT_SHARE : maxBytes;
    const keptBytes = requestBytes + sumOf(waiting);
    if (keptBytes <= limit) return;
    const cut = relieve([...waiting, ...arriving()], keptBytes - limit * RELIEVED_SHARE);
    if (cut > 0) log.warn({ cut, limit }, 'too much waited for slow readers: those with the most were cut off');
  };

  const meters = createMeters(metrics);
  const gauge = meters.gauge(
    'taskmesh_gateway_live_memory_ratio',
    'Memory in use after the last major garbage collection, by the limit of the heap without its young generation',
  );
  meters.gauge(
    'taskmesh_realtime_queue_bytes',
    'Bytes that wait for clients to read them, for the rest of a request or WebSocket message, or (changes) for other services',
    () => sumOf(unread()),
  );

  return {
    async start() {
      reservedBytes = getHeapStatistics().external_memory - process.memoryUsage().arrayBuffers;
      timer = setInterval(check, CHECK_EVERY_MS).unref();
      observer.observe({ entryTypes: ['gc'] });
    },
    async stop() {
      clearInterval(timer);
      observer.disconnect();
    },
    /**
     * Sets how many bytes the request holds; 0 when it has ended. Returns false if there is no room for them, even after
     * evicting requests that are still arriving.
     */
    hold(request: Holding, bytes: number) {
      requestBytes += bytes - request.bytes;
      request.bytes = bytes;
      const processed = request.evict ? 0 : bytes;
      const ofNetwork = count(processedBytes, request.network, processed - (requests.get(request) ?? 0));
      requests.set(request, processed);
      if (bytes === 0) return requests.delete(request);
      if (requestBytes > MAX_REQUEST_BYTES) relieve(arriving(), requestBytes - MAX_REQUEST_BYTES + RELIEF_BYTES);
      return requestBytes <= MAX_REQUEST_BYTES && ofNetwork <= MAX_SHARE_BYTES;
    },
    /** Adds a function that finds responses that wait to be read, requests that arrive, or changes that wait for other services. */
    watch: (find: () => Holding[]) => void sources.push(find),
    /** Whether live memory is short, for any reason. */
    isShort: (): boolean => isShort,
    /** Call this before work that needs or keeps much memory. @throws AppError SERVICE_UNAVAILABLE while memory is short */
    requireRoom() {
      if (isShort) throw unavailable('The gateway has little memory left right now; try again.');
    },
  };
}

const isMajorCollection = (entry: PerformanceEntry) =>
  (entry as { detail?: NodeGCPerformanceDetail }).detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;

const sumOf = (holdings: readonly Holding[]) => holdings.reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * Evicts holdings of at least `excessBytes` in total, and returns their number. The network that holds the most goes first, and
 * within it the account that holds the most: clients lose nothing because other accounts or networks hold more. Because of its
 * own requests, a client may lose a response even while it reads: a large write counts until the system has accepted all of it.
 */
function relieve(holdings: readonly Holding[], excessBytes: number): number {
  let left = excessBytes;
  let count = 0;
  for (const { bytes, evict } of greediestFirst(holdings)) {
    if (left <= 0) break;
    left -= bytes;
    evict?.();
    count++;
  }
  return count;
}

function greediestFirst(holdings: readonly Holding[]): Holding[] {
  const known = holdings.map((holding) => ({ ...holding })); // evaluates each `network` getter once
  const ofNetwork = totalsBy(known, ({ network }) => network);
  // By size, anonymous clients' bodies would be evicted when they are almost complete, and none would ever arrive.
  const holderOf = (holding: Holding) => holding.account ?? (holding.since === undefined ? holding : holding.network);
  const ofAccount = totalsBy(known, holderOf);
  return known
    .map((holding) => ({ ...holding, networkBytes: ofNetwork(holding), accountBytes: ofAccount(holding) }))
    .toSorted(
      (one, other) =>
        other.networkBytes - one.networkBytes ||
        other.accountBytes - one.accountBytes ||
        (one.since ?? 0) - (other.since ?? 0) ||
        other.bytes - one.bytes,
    );
}

function totalsBy(holdings: readonly Holding[], keyOf: (holding: Holding) => unknown): (holding: Holding) => number {
  const totals = new Map<unknown, number>();
  for (const holding of holdings) totals.set(keyOf(holding), (totals.get(keyOf(holding)) ?? 0) + holding.bytes);
  return (holding) => totals.get(keyOf(holding)) ?? 0;
}
