import { useState } from 'preact/hooks';
import { Confirm } from '../../elements/confirm.tsx';
import { Loading } from '../../elements/loading.tsx';
import { useTell } from '../../elements/notices.tsx';
import { focusHeading, View } from '../../elements/view.tsx';
import { useAction } from '../../requests/use-action.ts';
import { useApi } from '../api/api-context.ts';
import type { DeadLetter } from '../api/types.ts';
import { Problem } from '../problem.tsx';
import { usePolling } from '../use-polling.ts';
import { DeadLetterRow } from './dead-letter-row.tsx';

const PATH = '/operations/dead-letters';
const PAGE = 100;
const EVERY_MS = 5_000;
const LEAD =
  'Changes that the event log refused, and records in it that no gateway could read. No change is lost: readers get it from the store. Fix the cause, then replay or discard.';

export function DeadLettersView() {
  const api = useApi();
  const tell = useTell();
  const [toDiscard, setToDiscard] = useState<DeadLetter>();
  const { data, error, again } = usePolling(
    () => api.get<{ data: DeadLetter[] }>(`${PATH}?limit=${PAGE}`).then(({ data }) => data),
    EVERY_MS,
  );
  const act = useAction(async (method: 'POST' | 'DELETE', { id }: DeadLetter) => {
    setToDiscard(undefined);
    try {
      await api.send(method, method === 'POST' ? `${PATH}/${id}/replay` : `${PATH}/${id}`);
      tell({ text: method === 'POST' ? 'The change is published again.' : 'The dead letter is discarded.' });
    } finally {
      await again();
      focusHeading();
    }
  });
  return (
    <View title="Dead letters" lead={LEAD}>
      {!data && error === undefined && <Loading />}
      <Problem error={error} onAgain={() => void again()} />
      <Problem error={act.error} />
      {data?.length === 0 && <p class="nothing">There are none: the feed delivers everything.</p>}
      <ul class="rows" aria-label="Dead letters">
        {data?.map((letter) => (
          <DeadLetterRow
            key={letter.id}
            letter={letter}
            isBusy={act.isBusy}
            onReplay={() => void act.run('POST', letter)}
            onDiscard={() => setToDiscard(letter)}
          />
        ))}
      </ul>
      {data?.length === PAGE && (
        <p class="soft">These are the oldest {PAGE}; the next ones appear once these are dealt with.</p>
      )}
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
