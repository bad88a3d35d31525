import { useState } from 'preact/hooks';
import { ConfirmLosses } from '../elements/confirm-losses.tsx';

export interface SignOutProps {
  /** What would be lost now. */
  findLosses: () => readonly string[];
  onSignOut: () => Promise<void>;
}

/** Asks for confirmation if something would be lost. */
export function SignOut({ findLosses, onSignOut }: SignOutProps) {
  const [losses, setLosses] = useState<readonly string[]>([]);
  const begin = () => {
    const found = findLosses();
    if (found.length === 0) void onSignOut();
    else setLosses(found);
  };
  return (
    <>
      <button type="button" class="quiet" onClick={begin}>
        Sign out
      </button>
      {losses.length > 0 && (
        <ConfirmLosses
          title="Sign out, and drop what is not saved?"
          action="Drop and sign out"
          losses={losses}
          onConfirm={() => void onSignOut()}
          onCancel={() => setLosses([])}
        />
      )}
    </>
  );
}
