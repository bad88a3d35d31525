import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { TextField } from '../../elements/field.tsx';
import { Moment } from '../../elements/times.tsx';
import type { Backup } from '../api/types.ts';

export interface RestoreDialogProps {
  backup: Backup;
  onRestore: (withSafetyBackup: boolean) => void;
  onCancel: () => void;
}

const CONFIRMED = 'confirmed';

/** The name has to be typed, so that nobody restores by accident. The browser restores the focus on close. */
export function RestoreDialog({ backup: { file, createdAt, verifiedAt }, onRestore, onCancel }: RestoreDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [typed, setTyped] = useState('');
  const [isTried, setIsTried] = useState(false);
  const [withSafetyBackup, setWithSafetyBackup] = useState(false);
  // At once: a key pressed before it is open would move the focus that comes back in the end.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const isSame = typed.trim() === file;
  return (
    <dialog
      ref={dialog}
      class="roomy"
      aria-labelledby={id}
      onClose={({ currentTarget }) =>
        currentTarget.returnValue === CONFIRMED ? onRestore(withSafetyBackup) : onCancel()
      }
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setIsTried(true);
          if (isSame) dialog.current?.close(CONFIRMED);
        }}
      >
        <h2 id={id}>Restore this archive?</h2>
        <p>
          Accounts and tasks go back to how they were on <Moment at={createdAt} />. What was written since is removed.
          Pages that people have open show the restored tasks without being reloaded.
        </p>
        {verifiedAt === null && (
          <p class="note">It is not verified: only the restore itself will show whether it works.</p>
        )}
        <p>
          Type its name: <strong class="file">{file}</strong>
        </p>
        <TextField
          label="Name of the archive"
          autocomplete="off"
          value={typed}
          error={isTried && !isSame ? 'That is not its name.' : undefined}
          onInput={setTyped}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={withSafetyBackup}
            onChange={({ currentTarget }) => setWithSafetyBackup(currentTarget.checked)}
          />
          <span>Make a backup of the current data first</span>
        </label>
        <div class="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="danger">
            Restore
          </button>
        </div>
      </form>
    </dialog>
  );
}
