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
  const { file, isUndo, restoredAt, keptUntil, replacedKeptMs } = undoable;
  const step = isUndo ? 'undo' : 'restore';

  const undo = async () => {
    setIsAsked(false);
    await run(`Undoing the ${step}`, (onProgress) =>
      api.work(`/backup/undo?restoredAt=${encodeURIComponent(restoredAt)}`, onProgress),
    );
  };
  return (
    <Section title="Undo">
      <p>
        {isUndo ? (
          <>
            The last undo was <Ago at={restoredAt} />, for the archive <span class="file">{file}</span>.
          </>
        ) : (
          <>
            The archive <span class="file">{file}</span> was restored <Ago at={restoredAt} />.
          </>
        )}{' '}
        You can undo it until <Moment at={keptUntil} />: the data from before the {step} comes back.
      </p>
      <button type="button" disabled={isBusy} onClick={() => setIsAsked(true)}>
        Undo the {step}…
      </button>
      {isAsked && (
        <Confirm
          title={`Undo the last ${step}?`}
          action="Undo it"
          onConfirm={() => void undo()}
          onCancel={() => setIsAsked(false)}
        >
          <p>
            The data from before the {step} comes back.{' '}
            {replacedKeptMs > 0
              ? 'What was written since is kept for a while: another undo brings it back.'
              : 'What was written since is removed for good.'}
          </p>
        </Confirm>
      )}
    </Section>
  );
}

/** Shown while it is unknown whether an undo is possible; without a card it would seem impossible. */
export function UndoUnknown({ onAgain }: { onAgain: () => void }) {
  return (
    <Section title="Undo">
      <p class="soft">At the moment, the server cannot tell whether the last restore can be undone.</p>
      <button type="button" onClick={onAgain}>
        Ask again
      </button>
    </Section>
  );
}
