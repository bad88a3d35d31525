import { Sentence } from '../../elements/sentence.tsx';
import { Ago } from '../../elements/times.tsx';
import type { DeadLetter } from '../api/types.ts';

export interface DeadLetterRowProps {
  letter: DeadLetter;
  isBusy: boolean;
  onReplay: () => void;
  onDiscard: () => void;
}

const SOURCES = { relay: 'Refused by the event log', gateway: 'Not readable by gateways' };

export function DeadLetterRow({ letter, isBusy, onReplay, onDiscard }: DeadLetterRowProps) {
  const { id, source, ownerId, sequence, reason, record, diedAt, canReplay } = letter;
  return (
    <li class="row letter">
      <div class="what">
        <p class="title">
          {SOURCES[source]}
          <span class="label">{id}</span>
        </p>
        <p>
          <Sentence text={reason} />
        </p>
        <p class="soft">
          <Ago at={diedAt} />
          {ownerId !== null && (
            <>
              , of <code>{ownerId}</code>
            </>
          )}
          {sequence !== null && `, change ${sequence}`}
          {!canReplay && '. Cannot be replayed: its change is unknown, or no longer kept'}
        </p>
        {record !== null && (
          <details>
            <summary>The record (may contain somebody’s texts)</summary>
            <pre tabIndex={0}>{record}</pre>
          </details>
        )}
      </div>
      <div class="deeds">
        {canReplay && (
          <button type="button" disabled={isBusy} aria-label={`Replay dead letter ${id}`} onClick={onReplay}>
            Replay
          </button>
        )}
        <button
          type="button"
          class="danger"
          disabled={isBusy}
          aria-label={`Discard dead letter ${id}`}
          onClick={onDiscard}
        >
          Discard
        </button>
      </div>
    </li>
  );
}
