import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

export interface ConfirmProps {
  title: string;
  /** The label of the button that confirms. */
  action: string;
  children: ComponentChildren;
  onConfirm(): void;
  onCancel(): void;
}

const CONFIRMED = 'confirmed';

/** Asks before something that cannot be undone. The browser traps the focus, and restores it on close. */
export function Confirm({ title, action, children, onConfirm, onCancel }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // At once: a key pressed before it is open would move the focus that comes back in the end.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={({ currentTarget }) => (currentTarget.returnValue === CONFIRMED ? onConfirm() : onCancel())}
    >
      <h2 id={id}>{title}</h2>
      {children}
      <div class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={() => dialog.current?.close(CONFIRMED)}>
          {action}
        </button>
      </div>
    </dialog>
  );
}
