import type { TaskChanged } from '@taskmesh/events';
import type { Clock } from '@taskmesh/service';
import type { Feed } from '../feed.ts';
import type { FeedEnd } from '../owner-feed.ts';
import { concernsBinding, type Binding } from './bindings.ts';
import { changeData } from './change-payload.ts';
import { encodeRaw, type Message, type ProtocolVersion } from './frames.ts';

/** What a channel writes to. */
export interface Outlet {
  version: ProtocolVersion;
  /** False: the client is too far behind. */
  write(text: string): boolean;
  drained(): Promise<void>;
}

export interface ChannelOptions {
  topic: string;
  joinRef: string | null;
  bindings: Binding[];
  /** The client wants to know where it stands, so that it can resume. */
  tellsCursor: boolean;
  feed: Feed;
  clock: Clock;
  outlet: Outlet;
  /** A change was written; the channel listens to its owner since `scopedAt` (Unix milliseconds). */
  onDelivered: (change: TaskChanged, scopedAt: number) => void;
  /** The feed cannot go on for this client. */
  onEnd: (reason: FeedEnd | 'slow') => void;
}

/** Equal channels of several sockets get the same text. */
const frames = new WeakMap<TaskChanged, Map<string, string>>();

/** One joined channel: the changes of one owner at a time, through its bindings. */
export class Channel {
  readonly topic: string;
  readonly joinRef: string | null;
  readonly #options: ChannelOptions;
  #detach: (() => void) | undefined;
  /** Grows with each change of the owner: what belongs to an earlier one is dropped. */
  #scope = 0;
  #scopedAt = 0;
  /** Changes that came before the join was answered; undefined once it is. */
  #held: TaskChanged[] | undefined = [];
  #cursor: string | undefined;
  #isCursorDue = false;

  constructor(options: ChannelOptions) {
    this.topic = options.topic;
    this.joinRef = options.joinRef;
    this.#options = options;
  }

  /** The part of the topic that the client chose. */
  get name(): string {
    return this.topic.replace(/^realtime:/, '');
  }

  /**
   * Listens to this owner's changes from now on, or from behind a cursor, and to nobody else's.
   * @throws AppError as `Feed.subscribe` does
   */
  async scopeTo(owner: string, after?: string): Promise<void> {
    this.unscope();
    if (this.#options.bindings.length === 0) return;
    const scope = this.#scope;
    this.#scopedAt = this.#options.clock.now();
    const isCurrent = () => this.#scope === scope;
    const detach = await this.#options.feed.subscribe(owner, after, {
      onChange: (change) => isCurrent() && this.#take(change),
      onEnd: (reason) => isCurrent() && this.#options.onEnd(reason),
      drained: () => this.#options.outlet.drained(),
    });
    if (isCurrent()) this.#detach = detach;
    else detach();
  }

  unscope(): void {
    this.#scope++;
    this.#detach?.();
    this.#detach = undefined;
  }

  /** The join was answered: clients take changes from here on. */
  open(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const change of held) this.#deliver(change);
  }

  #take(change: TaskChanged): void {
    if (this.#held) this.#held.push(change);
    else this.#deliver(change);
  }

  #deliver(change: TaskChanged): void {
    const { bindings, outlet, onDelivered, onEnd } = this.#options;
    const concerned = bindings.filter((binding) => concernsBinding(binding, change));
    for (const group of bySelection(concerned)) if (!outlet.write(this.#frame(change, group))) return onEnd('slow');
    if (concerned.length > 0) onDelivered(change, this.#scopedAt);
    this.#noteCursor(change);
  }

  #frame(change: TaskChanged, { ids, select }: Selection): string {
    const { version } = this.#options.outlet;
    const key = `${version} ${ids.join()} ${select?.join() ?? ''} ${this.topic}`;
    const byKey = frames.get(change) ?? new Map<string, string>();
    frames.set(change, byKey);
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const head: Omit<Message, 'payload'> = { joinRef: null, ref: null, topic: this.topic, event: 'postgres_changes' };
    // Clients hand on `ids` and `data` only: what stands beside them disturbs nobody.
    const trace = change.traceparent ? `,"traceparent":${JSON.stringify(change.traceparent)}` : '';
    const payload = `{"ids":${JSON.stringify(ids)},"data":${changeData(change, select)}${trace}}`;
    const fresh = encodeRaw(version, head, payload);
    byKey.set(key, fresh);
    return fresh;
  }

  /** One message for all changes that come at once. */
  #noteCursor({ cursor }: TaskChanged): void {
    this.#cursor = cursor;
    if (!this.#options.tellsCursor || this.#isCursorDue) return;
    this.#isCursorDue = true;
    const scope = this.#scope;
    setImmediate(() => {
      this.#isCursorDue = false;
      if (this.#scope !== scope) return;
      const payload = {
        extension: 'resume',
        status: 'ok',
        message: 'cursor',
        cursor: this.#cursor,
        channel: this.name,
      };
      const head = { joinRef: this.joinRef, ref: null, topic: this.topic, event: 'system' };
      this.#options.outlet.write(encodeRaw(this.#options.outlet.version, head, JSON.stringify(payload)));
    });
  }
}

interface Selection {
  ids: number[];
  select: Binding['select'];
}

/** Bindings that tell the same columns share a message, which lists all their ids. */
function bySelection(bindings: Binding[]): Iterable<Selection> {
  const groups = new Map<string, Selection>();
  for (const { id, select } of bindings) {
    const key = select?.join() ?? '';
    const group = groups.get(key) ?? { ids: [], select };
    if (!group.ids.includes(id)) group.ids.push(id);
    groups.set(key, group);
  }
  return groups.values();
}
