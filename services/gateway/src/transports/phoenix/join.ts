import { isObject } from '@taskmesh/service';
import { BindingError, readBindings, type Binding } from './bindings.ts';
import type { Message } from './frames.ts';
import { tokenOf, type PublicKeys } from './tokens.ts';

/** The binary form stores a topic's length in one byte. */
const MAX_TOPIC_LENGTH = 255;

export interface JoinConfig {
  broadcast?: { ack?: unknown; self?: unknown };
  presence?: { enabled?: unknown };
  postgres_changes?: unknown;
}

export interface JoinRequest {
  topic: string;
  joinRef: string | null;
  ref: string | null;
  config: JoinConfig;
  bindings: Binding[];
  token: string;
  /** The client asked for cursors, so that it can resume later. */
  tellsCursor: boolean;
  /** The cursor to resume from. */
  since: string | undefined;
}

export interface JoinRefusal {
  reason: string;
  /** Joining again would fail the same way. */
  isFinal: boolean;
}

export function readJoin(message: Message, keys: PublicKeys): JoinRequest | JoinRefusal {
  const { topic, joinRef, ref, payload } = message;
  const config = isObject(payload['config']) ? (payload['config'] as JoinConfig) : {};
  const resume = isObject(payload['resume']) ? payload['resume'] : undefined;
  const bindings = bindingsOf(config.postgres_changes);
  if ('reason' in bindings) return bindings;
  const token = tokenOf(payload['user_token'] ?? payload['access_token'], keys) ?? tokenOf(keys.apikey, keys);
  if (!token) return { reason: 'Unauthorized: access_token required', isFinal: false };
  return {
    topic,
    joinRef,
    ref,
    config,
    bindings,
    token,
    tellsCursor: resume !== undefined,
    since: cursorIn(resume?.['since']),
  };
}

/** Some clients send texts. */
export function isOn(option: unknown): boolean {
  return option === true || option === 'true';
}

/** null and undefined mean to begin now. Other non-strings become '', which is rejected like any unreadable cursor. */
function cursorIn(since: unknown): string | undefined {
  if (since === undefined || since === null) return undefined;
  return typeof since === 'string' ? since : '';
}

/** Why this topic can never be joined, whatever the token. */
export function topicRefusal(topic: string): string | undefined {
  if (!/^realtime:./.test(topic)) return 'TopicNameRequired: You must provide a topic name';
  if (topic.length > MAX_TOPIC_LENGTH) return 'TopicNameTooLong: A topic has at most 255 characters';
  return undefined;
}

function bindingsOf(asked: unknown): Binding[] | JoinRefusal {
  try {
    return readBindings(asked);
  } catch (error) {
    if (error instanceof BindingError) return { reason: error.message, isFinal: error.isFinal };
    throw error;
  }
}
