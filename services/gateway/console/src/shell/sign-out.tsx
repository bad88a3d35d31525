import { useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Confirm } from '../elements/confirm.tsx';

/** Asks first when there are changes that the server has not got: they would be lost. */
export function SignOut({ onSignOut }: { onSignOut: () => Promise<void> }) {
  const client = useClient();
  const [waiting, setWaiting] = useState(0);
  const begin = () => {
    const count = client.pendingWrites();
    if (count === 0) void onSignOut();
    else setWaiting(count);
  };
  return (
    <>
      <button type="button" class="quiet" onClick={begin}>
        Sign out
      </button>
      {waiting > 0 && (
        <Confirm
          title="Sign out, and drop what was not sent?"
          action="Drop and sign out"
          onConfirm={() => void onSignOut()}
          onCancel={() => setWaiting(0)}
        >
          <p>
            {waiting === 1 ? 'One change has' : `${waiting} changes have`} not reached the server yet. Signing out drops{' '}
            {waiting === 1 ? 'it' : 'them'}.
          </p>
        </Confirm>
      )}
    </>
  );
}
