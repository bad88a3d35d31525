import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './view.tsx';

export interface ConfirmProps {
  title: string;
  /** The label of the button that confirms. */
  action: string;
  /** What would be lost, one sentence each. */
  losses?: readonly string[];
  children?: ComponentChildren;
  /** Called on confirm; returning false keeps the dialog open. */
  mayConfirm?: () => boolean;
  onConfirm(): void;
  onCancel(): void;
}

const CONFIRMED = 'confirmed';

/** Asks before something that cannot be undone. The browser traps the focus, and restores it on close. */
export function Confirm({ title, action, losses, children, mayConfirm, onConfirm, onCancel }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect, because a key pressed before the dialog opens could move the focus that is restored on close.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={({ currentTarget }) => (currentTarget.returnValue === CONFIRMED ? onConfirm() : onCancel())}
    >
      <form method="dialog" noValidate onSubmit={(event) => mayConfirm?.() === false && event.preventDefault()}>
        <h2 id={id}>{title}</h2>
        {children}
        {losses && (
          <ul class="losses">
            {losses.map((loss) => (
              <li key={loss}>{loss}</li>
            ))}
          </ul>
        )}
        <div class="buttons">
          <Button text="Cancel" onClick={() => dialog.current?.close()} />
          <Button type="submit" text={action} class="danger" value={CONFIRMED} />
        </div>
      </form>
    </dialog>
  );
}
