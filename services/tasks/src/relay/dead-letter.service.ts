import type { DeadLetter, UnreadableRecord } from '@taskmesh/internal-api';
import { parseJson, type Log } from '@taskmesh/service';
import { parseInput, parseUuid } from '@taskmesh/contracts';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { DeadLetterRepository } from './dead-letter.repository.ts';

export interface DeadLetterServiceDeps {
  repository: Pick<DeadLetterRepository, 'list' | 'replay' | 'discard' | 'noteUnreadable'>;
  onReplayed: () => void;
  log: Log;
}

const [DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE] = [100, 1_000];
/** A flood of invalid records must not fill the store. */
const MAX_UNREADABLE = 10_000;
const MAX_RECORD_LENGTH = 64 * 1024;
const MAX_REASON_LENGTH = 2_000;

const id = z.string().regex(/^\d{1,18}$/, 'An id is a number in a string.');
const choice = z.union([z.strictObject({ ids: z.array(id).max(9_000) }), z.strictObject({ all: z.literal(true) })], {
  error: 'Choose dead letters: {"ids": ["1", "2"]} or {"all": true}.',
});
const page = z.object({ after: id.default('0'), limit: z.int().min(1).max(MAX_PAGE_SIZE).default(DEFAULT_PAGE_SIZE) });
const unreadable = z.object({ key: z.string(), value: z.string(), reason: z.string() });

/** Keeps changes and records that could not be delivered until an operator has dealt with them. */
export function createDeadLetterService({ repository, onReplayed, log }: DeadLetterServiceDeps) {
  const idsOf = (input: unknown): string[] | null => {
    const chosen = parseInput(choice, input);
    return 'ids' in chosen ? chosen.ids : null;
  };

  return {
    async deadLetters(input: unknown): Promise<DeadLetter[]> {
      const { after, limit } = parseInput(page, input);
      return repository.list(after, limit);
    },
    async replayDeadLetters(input: unknown) {
      const ids = idsOf(input);
      const replayed = await repository.replay(ids);
      onReplayed();
      log.info({ ids: ids ?? 'all', replayed }, 'dead letters replayed');
      return { replayed };
    },
    async discardDeadLetters(input: unknown) {
      const ids = idsOf(input);
      const discarded = await repository.discard(ids);
      log.info({ ids: ids ?? 'all', discarded }, 'dead letters discarded');
      return { discarded };
    },
    /** Stores a record that a gateway could not read. Repeated reports are stored once. */
    async note(input: unknown): Promise<void> {
      const { key, value, reason } = parseInput(unreadable, input);
      const fingerprint = createHash('sha256').update(`${key}\n${value}`).digest('hex');
      const letter = {
        fingerprint: `record ${fingerprint}`,
        ...positionOf({ key, value, reason }),
        reason: storable(reason, MAX_REASON_LENGTH),
        record: storable(value, MAX_RECORD_LENGTH),
      };
      await repository.noteUnreadable(letter, MAX_UNREADABLE);
    },
  };
}

/** The owner and the sequence, if an unreadable record still reveals them. */
function positionOf({ key, value }: UnreadableRecord): { owner: string | null; sequence: number | null } {
  const owner = parseUuid(key) ?? null;
  const { sequence } = (parseJson(value) ?? {}) as { sequence?: unknown }; // the type of `sequence` is checked below
  const isPosition = typeof sequence === 'number' && Number.isSafeInteger(sequence) && sequence > 0;
  return { owner, sequence: isPosition ? sequence : null };
}

/** Truncates and cleans a text: PostgreSQL's text cannot contain U+0000. */
function storable(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replaceAll('\0', '\u2400').toWellFormed();
}
