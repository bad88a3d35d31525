import { AppError, badUserInput, unavailable } from '@taskmesh/contracts';
import { networkOf, siteOf } from '@taskmesh/service';
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { currentResponse } from './client-connections.ts';
import type { Holding, Memory } from './memory.ts';

/** Limit for bodies, both before and after decompression. */
export const BODY_LIMIT_BYTES = 1024 * 1024;
/** This much of each body that has arrived is always accepted, so that ordinary requests are served among many large ones. */
const ORDINARY_BYTES = 16 * 1024;
/** Each piece of a body costs time and memory, even if it is a single byte. */
const MAX_PIECES = 4_096;
const PIECE_BYTES = 256;
/** Discarded pieces cost time as well. */
const MAX_DISCARDED_PIECES = 2 * MAX_PIECES;
/** Memory of a request with its response, and of a header's name or value, in addition to the text. */
const REQUEST_BYTES = 4 * 1024;
const HEADER_BYTES = 32;
/** The longest that a query or mutation may wait in queues and run. A stream may wait for longer to begin. */
const MAX_HOLD_MS = 35_000;

export interface ClientRequestDeps {
  memory: Memory;
  clientIp: (request: IncomingMessage) => string;
}

/** The request class of a server. Bodies count as soon as they arrive, even while they are not read, as behind another response. */
export function clientRequests({ memory, clientIp }: ClientRequestDeps) {
  const arriving = new Set<ClientRequest>();
  memory.watch(() => {
    // A request that was answered before it had arrived is never destroyed itself.
    for (const request of arriving) if (request.destroyed || request.socket.destroyed) arriving.delete(request);
    return Array.from(arriving, (request) => request.uncounted);
  });
  return class extends ClientRequest {
    constructor(socket: Socket) {
      super(socket, memory, clientIp, arriving);
    }
  };
}

export class ClientRequest extends IncomingMessage {
  readonly #memory: Memory;
  readonly #clientIp: (request: IncomingMessage) => string;
  readonly #arriving: Set<ClientRequest>;
  readonly #since = performance.now();
  #holding: Holding | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLong = false;
  /** `kept`: its operation holds the parsed body, whether or not its client is still there. `over`: it no longer counts. */
  #state: 'arriving' | 'kept' | 'over' = 'arriving';
  #bytes = 0;
  #pieces = 0;
  #headBytes: number | undefined;
  /** The account that sent the request, once it is known. */
  account: string | undefined;
  /** Sends 100 Continue to a client that waits for it. Call this before the body is read. */
  sendContinue: (() => void) | undefined;
  /** Why the body was refused. The part that had arrived was dropped. */
  refusal: AppError | undefined;
  /** Called when the body is refused while it is being read. */
  onRefused: ((refusal: AppError) => void) | undefined;

  constructor(
    socket: Socket,
    memory: Memory,
    clientIp: (request: IncomingMessage) => string,
    arriving: Set<ClientRequest>,
  ) {
    super(socket);
    this.#memory = memory;
    this.#clientIp = clientIp;
    this.#arriving = arriving.add(this);
  }

  /** What it takes while it arrives, beside what it holds: clients may leave thousands incomplete, each of ordinary size. */
  get uncounted(): Holding {
    const bodyBytes = this.#state === 'over' ? 0 : this.#bytes + PIECE_BYTES * this.#pieces;
    const network = () => this.#network();
    return {
      bytes: Math.max(0, this.#head() + bodyBytes - (this.#holding?.bytes ?? 0)),
      since: this.#since,
      account: this.account,
      get network() {
        return network(); // takes long, and is rarely needed
      },
      evict: () => this.socket.destroy(),
    };
  }

  /** Node's parser calls this with each piece, and with null at the end. */
  override push(piece: Buffer | null): boolean {
    if (piece === null) this.#arriving.delete(this);
    if (this.#isLong) return super.push(piece);
    if (this.#state !== 'over' && (piece !== null || this.#isWaiting())) this.#count(piece?.length ?? 0);
    else if (++this.#pieces > MAX_DISCARDED_PIECES) this.socket.destroy();
    return (this.#state === 'over' && piece !== null) || super.push(piece); // later pieces are discarded
  }

  /**
   * Stops counting the body: from now on it is a stream of any length, and arrives no faster than it is read.
   * @throws AppError if the body was refused before
   */
  passOn(): void {
    if (this.refusal) throw this.refusal;
    this.#isLong = true;
    this.#arriving.delete(this);
    this.release();
    this.sendContinue?.();
  }

  /**
   * Counts a complete body as `bytes` until it is answered, even if its client disconnects: the parsed body waits with its
   * operation. A body that only waits to be parsed (`givesWay`) can still be evicted in favour of others.
   * @throws AppError SERVICE_UNAVAILABLE if there is no room for it, or the error with which it was refused before
   */
  keep(bytes: number, { givesWay = false } = {}): void {
    if (this.refusal) throw this.refusal;
    if (!givesWay && this.#state === 'arriving') this.#state = 'kept';
    const hasRoom = this.#hold(bytes, givesWay ? () => this.#refuse(tooManyLargeRequests()) : undefined);
    if (this.refusal) throw this.refusal;
    this.#releaseInTime();
    if (hasRoom) return;
    this.release();
    throw tooManyLargeRequests();
  }

  /** Stops counting the body. */
  release(): void {
    this.#state = 'over';
    clearTimeout(this.#timer);
    if (this.#holding) this.#memory.hold(this.#holding, 0);
  }

  /**
   * Call this when the response is sent, or the body is no longer needed: a stream runs for hours without it. Discards the rest here,
   * because Node would not report the number of pieces.
   */
  leave(): void {
    this.release();
    if (this.#isLong || this.complete) return;
    this.read(0);
    this.resume();
  }

  #releaseInTime(): void {
    clearTimeout(this.#timer);
    if (this.#holding && this.#state !== 'over') this.#timer = setTimeout(() => this.release(), MAX_HOLD_MS).unref();
  }

  /** Whether an earlier response on this connection is still being sent. */
  #isWaiting(): boolean {
    const current = currentResponse(this.socket);
    return current !== undefined && current.req !== this;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#pieces++;
    if (this.#bytes > BODY_LIMIT_BYTES) this.#refuse(bodyTooLarge());
    else if (this.#pieces > MAX_PIECES) this.#refuse(tooManyPieces());
    else if (!this.#hold(this.#bytes + PIECE_BYTES * this.#pieces, () => this.#refuse(tooManyLargeRequests())))
      this.#refuse(tooManyLargeRequests());
  }

  #hold(bytes: number, giveUp?: () => void): boolean {
    const beyond = this.#isWaiting() ? bytes + this.#head() : Math.max(0, bytes - ORDINARY_BYTES);
    if (!this.#holding && beyond === 0) return true;
    this.#holding ??= this.#firstHolding();
    this.#holding.evict = giveUp;
    if (bytes > ORDINARY_BYTES && this.#memory.isShort()) return false;
    return this.#memory.hold(this.#holding, beyond);
  }

  #head(): number {
    const texts = () => [this.url ?? '', ...this.rawHeaders];
    return (this.#headBytes ??= texts().reduce((sum, { length }) => sum + HEADER_BYTES + length, REQUEST_BYTES));
  }

  #firstHolding(): Holding {
    // Also closes as soon as the body has been read completely, while it is still being processed.
    this.once('close', () => (this.#state === 'kept' || this.readableEnded ? this.#releaseInTime() : this.release()));
    const accountNow = () => this.account; // often known only after the body was read
    return {
      ...{ bytes: 0, since: this.#since, network: this.#network() },
      get account() {
        return accountNow();
      },
    };
  }

  #network(): string {
    return siteOf(networkOf(this.#clientIp(this)));
  }

  #refuse(refusal: AppError): void {
    if (this.refusal) return;
    this.refusal = refusal;
    this.release();
    this.onRefused?.(refusal);
    const response = currentResponse(this.socket);
    // The request waits behind another one, and would keep its memory until its turn.
    if (response?.req !== this) return void this.socket.destroy();
    if (refusal.message === MANY_PIECES) response.shouldKeepAlive = false; // otherwise the rest would be read and discarded
    this.resume(); // discards what has arrived
  }
}

/** The server creates requests of no other class. */
export const asClientRequest = (request: IncomingMessage): ClientRequest => request as ClientRequest;

/** This much of each socket message is always accepted: many wait with their operations. */
const ORDINARY_MESSAGE_BYTES = 4 * 1024;

/** Counts a socket's message while its operation waits and runs. Returns how to release it, once; undefined if there is no room. */
export function holdMessage(memory: Memory, sizeBytes: number, ip: string): (() => void) | undefined {
  const bytes = Math.max(0, sizeBytes - ORDINARY_MESSAGE_BYTES);
  if (bytes === 0) return () => undefined;
  if (sizeBytes > ORDINARY_BYTES && memory.isShort()) return undefined;
  const message = { bytes: 0, network: siteOf(networkOf(ip)) };
  const release = () => void memory.hold(message, 0);
  return memory.hold(message, bytes) ? release : release();
}

/** The whole body is invalid, so the issue has no path. */
export const invalidBody = (message: string) => badUserInput([{ path: '', message }]);
export const tooManyLargeRequests = () => unavailable('Too many large requests arrive right now; try again.');
export const bodyTooLarge = () => new AppError('PAYLOAD_TOO_LARGE', 'The body must not be larger than 1 MiB.');
const MANY_PIECES = 'The body arrives in too many pieces.';
const tooManyPieces = () => new AppError('PAYLOAD_TOO_LARGE', MANY_PIECES);
