import { useState } from 'preact/hooks';
import { Confirm } from '../elements/confirm.tsx';
import { useNotify } from '../elements/notices.tsx';
import { Ago, Sentence } from '../elements/times.tsx';
import { RowActions, Failure, focusHeading, Read, View, type RowActionsProps } from '../elements/view.tsx';
import { useAction } from '../requests/use-action.ts';
import { useApi } from './api/operators-api.ts';
import type { DeadLetter } from './api/types.ts';
import { usePolling } from './use-polling.ts';

const PATH = '/operations/dead-letters';
const PAGE = 100;
const EVERY_MS = 5_000;
const LEAD =
  'Changes that the event log refused, and records in it that no gateway could read. No change is lost: readers get it from the store. Fix the cause, then replay or discard.';

export function DeadLettersView() {
  const api = useApi();
  const notify = useNotify();
  const [toDiscard, setToDiscard] = useState<DeadLetter>();
  const reading = usePolling(
    () => api.get<{ data: DeadLetter[] }>(`${PATH}?limit=${PAGE}`).then(({ data }) => data),
    EVERY_MS,
  );
  const act = useAction(async (method: 'POST' | 'DELETE', { id }: DeadLetter) => {
    setToDiscard(undefined);
    try {
      await api.send(method, method === 'POST' ? `${PATH}/${id}/replay` : `${PATH}/${id}`);
      notify({ text: method === 'POST' ? 'The change is published again.' : 'The dead letter is discarded.' });
    } finally {
      await reading.again();
      focusHeading();
    }
  });
  return (
    <View title="Dead letters" lead={LEAD}>
      <Failure error={act.error} />
      <Read reading={reading}>
        {(letters) => (
          <>
            {letters.length === 0 && <p class="nothing">There are none: the feed delivers everything.</p>}
            <ul class="rows" aria-label="Dead letters">
              {letters.map((letter) => (
                <DeadLetterRow
                  key={letter.id}
                  letter={letter}
                  actions={[
                    ...(letter.canReplay
                      ? [{ text: 'Replay', disabled: act.isBusy, onClick: () => void act.run('POST', letter) }]
                      : []),
                    { text: 'Discard', class: 'danger', disabled: act.isBusy, onClick: () => setToDiscard(letter) },
                  ]}
                />
              ))}
            </ul>
            {letters.length === PAGE && (
              <p class="soft">These are the oldest {PAGE}; the next ones appear once these are dealt with.</p>
            )}
          </>
        )}
      </Read>
      {toDiscard && (
        <Confirm
          title="Discard the dead letter?"
          action="Discard it"
          onConfirm={() => void act.run('DELETE', toDiscard)}
          onCancel={() => setToDiscard(undefined)}
        >
          <p>It is removed, and can no longer be replayed. The change itself stays where it is.</p>
        </Confirm>
      )}
    </View>
  );
}

const SOURCES = { relay: 'Refused by the event log', gateway: 'Not readable by gateways' };

function DeadLetterRow({ letter, actions }: { letter: DeadLetter } & Pick<RowActionsProps, 'actions'>) {
  const { id, source, ownerId, sequence, reason, record, diedAt, canReplay } = letter;
  return (
    <li class="row">
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
      <RowActions of={`dead letter ${id}`} actions={actions} />
    </li>
  );
}
