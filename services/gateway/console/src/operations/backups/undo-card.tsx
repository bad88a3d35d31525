import { useState } from 'preact/hooks';
import { Confirm } from '../../elements/confirm.tsx';
import { Ago, Moment } from '../../elements/times.tsx';
import { Section } from '../../elements/view.tsx';
import { useApi } from '../api/api-context.ts';
import type { UndoableRestore } from '../api/types.ts';
import { useOngoingWork } from '../work/use-work.ts';

export function UndoCard({ undoable, isBusy }: { undoable: UndoableRestore; isBusy: boolean }) {
  const api = useApi();
  const { run } = useOngoingWork();
  const [isAsked, setIsAsked] = useState(false);
  const { file, isUndo, restoredAt, keptUntil } = undoable;

  const undo = async () => {
    setIsAsked(false);
    await run('Taking the restore back', (onProgress) =>
      api.work(`/backup/undo?restoredAt=${encodeURIComponent(restoredAt)}`, onProgress),
    );
  };
  return (
    <Section title="The way back">
      <p>
        {isUndo ? 'The last restore or undo of ' : 'The archive '}
        <span class="file">{file}</span> was {isUndo ? 'taken back' : 'restored'} <Ago at={restoredAt} />. What that
        replaced is kept until <Moment at={keptUntil} />.
      </p>
      <button type="button" disabled={isBusy} onClick={() => setIsAsked(true)}>
        Take it back…
      </button>
      {isAsked && (
        <Confirm
          title="Take the last restore back?"
          action="Take it back"
          onConfirm={() => void undo()}
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

/** Shown while it is unknown whether an undo is possible; without a card it would seem impossible. */
export function UndoUnknown({ onAgain }: { onAgain: () => void }) {
  return (
    <Section title="The way back">
      <p class="soft">At the moment, the server cannot tell whether the last restore can be taken back.</p>
      <button type="button" onClick={onAgain}>
        Ask again
      </button>
    </Section>
  );
}
