import { TaskmeshError } from '@taskmesh/client';
import { useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { ActionError } from '../elements/form.tsx';
import { Button } from '../elements/view.tsx';
import { useAction } from '../requests/use-action.ts';

/** Shown when an action failed because the account has no password yet (CONFLICT). */
export function FirstPassword({ error, email }: { error: unknown; email: string }) {
  const client = useClient();
  const [isSent, setIsSent] = useState(false);
  const send = useAction(async () => {
    await client.requestPasswordReset(email);
    setIsSent(true);
  });
  if (!(error instanceof TaskmeshError) || error.code !== 'CONFLICT') return null;
  if (isSent)
    return (
      <p class="note good" role="status">
        An e-mail is on its way to {email}. Its link lets you choose your first password, which signs you out
        everywhere: sign in with that password, then try again.
      </p>
    );
  return (
    <div class="way-on">
      <Button text="Send me the recovery e-mail" runs={send} />
      <ActionError error={send.error} />
    </div>
  );
}
