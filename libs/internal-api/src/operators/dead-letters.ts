import { z } from 'zod';
import type { InternalApi } from '../define.ts';
import { SMALL_CALL_MS } from '../timeouts.ts';

/** A change that the event log refused, or a record that a gateway could not read. Subscribers still get the change. */
export interface DeadLetter {
  id: string;
  source: 'relay' | 'gateway';
  /** The change's id in the change log; null when the record does not tell. */
  changeId: string | null;
  ownerId: string | null;
  sequence: string | null;
  reason: string;
  /** The raw record; only from gateways. */
  record: string | null;
  diedAt: string;
  canReplay: boolean;
}

export type DeadLetterChoice = { ids: string[] } | { all: true };

/** What tasks offers to operators. The choice is checked there: it comes from a client. */
export interface DeadLettersInternal {
  /** In the order of their ids, from behind `after`. @throws AppError BAD_USER_INPUT */
  deadLetters(page: { after?: string; limit?: number }): Promise<DeadLetter[]>;
  /** Publishes the changes again. Dead letters whose change is no longer in the change log stay. */
  replayDeadLetters(choice: unknown): Promise<{ replayed: number }>;
  discardDeadLetters(choice: unknown): Promise<{ discarded: number }>;
}

export const deadLettersInternal: InternalApi<DeadLettersInternal> = {
  service: 'tasks',
  caller: { role: 'operator' },
  timeoutMs: SMALL_CALL_MS,
  names: ['deadLetters', 'replayDeadLetters', 'discardDeadLetters'],
  answers: {
    deadLetters: z.array(z.looseObject({ id: z.string() })),
    replayDeadLetters: z.looseObject({ replayed: z.number() }),
    discardDeadLetters: z.looseObject({ discarded: z.number() }),
  },
};
