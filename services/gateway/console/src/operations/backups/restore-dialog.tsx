import { useEffect, useId, useRef, useState } from 'preact/hooks';
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
  useEffect(() => dialog.current?.showModal(), []);
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
          Accounts and tasks become what they were on <Moment at={createdAt} />. What was written since is removed.
          Lists that people have open start over by themselves.
        </p>
        {verifiedAt === null && (
          <p class="note">It is not verified: whether it can be restored shows only while it is.</p>
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
          <span>First make a backup of what is replaced</span>
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
