import { unavailable } from '@taskmesh/contracts';
import { collectGarbage, type Log, type Service } from '@taskmesh/service';
import { constants, type NodeGCPerformanceDetail, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { Gauge, type Registry } from 'prom-client';

/** Of requests until they are answered. A body of a stranger is read before its sender is known. */
const MAX_REQUEST_BYTES = 32 * 1024 * 1024;
/** Of those being worked on for one account, or for strangers of one network. */
const MAX_SHARE_BYTES = MAX_REQUEST_BYTES / 2;
/** Makes room for one more request of the greatest size, so that the next piece does not start it again. */
const RELIEF_BYTES = 1024 * 1024;
/** Readers are cut to this share of the limit, for the same reason. */
const RELIEVED_SHARE = 0.75;
const LOOK_EVERY_MS = 100;
/** The share of the heap's limit from which on live memory is short. V8's limit includes its young generation. */
const MAX_LIVE_SHARE = 0.7;
/** While it is short, it is looked at again after this time. */
const RECHECK_MS = 2_000;
/** What may be kept while it is short, as a share of the limit. */
const SHORT_SHARE = 0.25;

/** What is kept for a client: a request until it is answered, or an answer that waits to be read. */
export interface Holding {
  bytes: number;
  readonly network: string;
  /** Undefined when it is not known: an answer then counts alone, and a body with the others of its network. */
  readonly account?: string | undefined;
  /** When it began to arrive: of an account's, the oldest gives way first; others by their size. */
  readonly since?: number;
  /** Ends it at once, and drops it. Absent while it is being worked on. */
  giveUp?: (() => void) | undefined;
}

export interface Memory extends Service {
  /**
   * The request holds so many bytes from now on, or none when it has ended. False when there is no room for them, even in
   * place of others that are still arriving.
   */
  hold(request: Holding, bytes: number): boolean;
  /** Adds a way to find what waits to be read. */
  watch(unread: () => Holding[]): void;
  /** Whether live memory is short, for any reason. */
  isShort(): boolean;
  /** Before work that needs or keeps much. @throws AppError SERVICE_UNAVAILABLE while memory is short */
  requireRoom: () => void;
}

export interface MemoryDeps {
  /** For all requests and unread answers together. */
  maxBytes: number;
  metrics: Registry;
  log: Log;
}

/**
 * Everything that clients make the gateway keep, within one limit. Who has the most of it gives way first: see `relieve`. Behind it stands
 * the whole of live memory: while that is short, for any reason, nothing is accepted that would take much more.
 */
export function createMemory({ maxBytes, metrics, log }: MemoryDeps): Memory {
  const requests = new Set<Holding>();
  const sources: (() => Holding[])[] = [];
  let requestBytes = 0;
  /** Of external memory at the start, by WebAssembly, which hardly uses it. */
  let reservedBytes = 0;
  let isShort = false;
  let notedMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const unread = () => sources.flatMap((find) => find());
  const arriving = () => [...requests].filter(({ giveUp }) => giveUp);
  /** Bodies that arrive give way, so those of a network may have all of the room. */
  const isFair = ({ account, network, giveUp }: Holding) => {
    if (requestBytes <= MAX_SHARE_BYTES || (account === undefined && giveUp)) return true;
    const isOwn = (each: Holding) => each.account === account && (account !== undefined || each.network === network);
    return sumOf([...requests].filter((each) => !each.giveUp && isOwn(each))) <= MAX_SHARE_BYTES;
  };
  /** Right after a major collection. Later, more and more of what is used is garbage. */
  const noteLive = () => {
    const { used_heap_size: used, external_memory: external, heap_size_limit: most } = getHeapStatistics();
    const liveShare = (used + external - reservedBytes) / most;
    notedMs = performance.now();
    gauge.set(liveShare);
    if (liveShare > MAX_LIVE_SHARE === isShort) return;
    isShort = !isShort;
    const what = isShort ? 'memory is short: what would take much of it is refused' : 'memory is not short any more';
    log.warn({ used, external, most, requestBytes, unreadBytes: sumOf(unread()) }, what);
  };
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isMajorCollection)) noteLive();
  });
  const look = () => {
    if (isShort && performance.now() - notedMs >= RECHECK_MS) {
      collectGarbage(); // who is refused makes too little of it for V8 to do that
      noteLive();
    }
    const waiting = unread();
    const limit = isShort ? maxBytes * SHORT_SHARE : maxBytes;
    const keptBytes = requestBytes + sumOf(waiting);
    if (keptBytes <= limit) return;
    const cut = relieve([...waiting, ...arriving()], keptBytes - limit * RELIEVED_SHARE);
    if (cut > 0) log.warn({ cut, limit }, 'too much waited for slow readers: those with the most were cut off');
  };

  const registers = [metrics];
  const gauge = new Gauge({
    name: 'taskmesh_gateway_live_memory_ratio',
    help: 'Memory in use after the last major garbage collection, by the limit of the heap',
    registers,
  });
  new Gauge({
    name: 'taskmesh_realtime_queue_bytes',
    help: 'Bytes that wait for clients to read them, or for the rest of a WebSocket message',
    registers,
    collect() {
      this.set(sumOf(unread()));
    },
  });

  return {
    async start() {
      reservedBytes = getHeapStatistics().external_memory - process.memoryUsage().arrayBuffers;
      timer = setInterval(look, LOOK_EVERY_MS).unref();
      observer.observe({ entryTypes: ['gc'] });
    },
    async stop() {
      clearInterval(timer);
      observer.disconnect();
    },
    hold(request, bytes) {
      requestBytes += bytes - request.bytes;
      request.bytes = bytes;
      if (bytes === 0) {
        requests.delete(request);
        return true;
      }
      requests.add(request);
      if (requestBytes > MAX_REQUEST_BYTES) relieve(arriving(), requestBytes - MAX_REQUEST_BYTES + RELIEF_BYTES);
      return requestBytes <= MAX_REQUEST_BYTES && isFair(request);
    },
    watch: (find) => void sources.push(find),
    isShort: () => isShort,
    requireRoom() {
      if (isShort) throw unavailable('The gateway has little memory left right now; try again.');
    },
  };
}

const isMajorCollection = (entry: PerformanceEntry) =>
  (entry as { detail?: NodeGCPerformanceDetail }).detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;

const sumOf = (holdings: readonly Holding[]) => holdings.reduce((sum, { bytes }) => sum + bytes, 0);

/**
 * Gives up holdings of so many bytes together, and returns how many. Those of the network with the most go first, of that those
 * of the account with the most: a client loses nothing for other accounts or networks that have more. It may lose an answer for
 * its own requests, even if it reads, as the system takes large writes in whole.
 */
function relieve(holdings: readonly Holding[], excessBytes: number): number {
  let left = excessBytes;
  let count = 0;
  for (const { bytes, giveUp } of greediestFirst(holdings)) {
    if (left <= 0) break;
    left -= bytes;
    giveUp?.();
    count++;
  }
  return count;
}

function greediestFirst(holdings: readonly Holding[]): Holding[] {
  const known = holdings.map((holding) => ({ ...holding })); // each network is looked up once
  const ofNetwork = totalsBy(known, ({ network }) => network);
  // By size, strangers' bodies would be given up when they are almost there, and none would ever arrive.
  const ofAccount = totalsBy(
    known,
    (holding) => holding.account ?? (holding.since === undefined ? holding : holding.network),
  );
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
