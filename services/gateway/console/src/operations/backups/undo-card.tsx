import { useEffect, useState } from 'preact/hooks';
import { Confirm } from '../../elements/confirm.tsx';
import { Ago, Moment } from '../../elements/times.tsx';
import { Section } from '../../elements/view.tsx';
import { useReading } from '../../requests/use-reading.ts';
import { useApi } from '../api/api-context.ts';
import { OperatorsError } from '../api/operators-error.ts';
import type { UndoableRestore } from '../api/types.ts';
import { Problem } from '../problem.tsx';
import { useOngoingWork } from '../work/use-work.ts';

/** The way back from the last restore, while there is one. */
export function UndoCard({ isBusy }: { isBusy: boolean }) {
  const api = useApi();
  const { run, ended } = useOngoingWork();
  const [isAsked, setIsAsked] = useState(false);
  const { data, error, again } = useReading(async () => {
    try {
      return (await api.get<{ data: UndoableRestore }>('/backup/undo')).data;
    } catch (failure) {
      if (failure instanceof OperatorsError && failure.status === 404) return null; // nothing to take back
      throw failure;
    }
  });
  useEffect(() => {
    if (ended) void again(); // it may have been a restore
  }, [ended, again]);

  const undo = async ({ restoredAt }: UndoableRestore) => {
    setIsAsked(false);
    await run('Taking the restore back', (onProgress) =>
      api.work(`/backup/undo?restoredAt=${encodeURIComponent(restoredAt)}`, onProgress),
    );
  };
  if (!data) return <Problem error={error} onAgain={() => void again()} />;
  return (
    <Section title="The way back">
      <p>
        {data.isUndo ? 'The last restore or undo of ' : 'The archive '}
        <span class="file">{data.file}</span> was {data.isUndo ? 'taken back' : 'restored'} <Ago at={data.restoredAt} />
        . What that replaced is kept until <Moment at={data.keptUntil} />.
      </p>
      <button type="button" disabled={isBusy} onClick={() => setIsAsked(true)}>
        Take it back…
      </button>
      {isAsked && (
        <Confirm
          title="Take the last restore back?"
          action="Take it back"
          onConfirm={() => void undo(data)}
          onCancel={() => setIsAsked(false)}
        >
          <p>
            What was there before it comes back. What was written since is kept in its turn: taking it back again brings
            that.
          </p>
        </Confirm>
      )}
    </Section>
  );
}
