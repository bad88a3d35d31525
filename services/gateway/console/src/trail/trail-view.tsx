import { READ_AUDIT_ENTRIES, type ReadAuditEntriesQuery } from '@taskmesh/client';
import { useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { ActionError } from '../elements/form.tsx';
import { Moment } from '../elements/times.tsx';
import { Button, Read, View } from '../elements/view.tsx';
import { useAction } from '../requests/use-action.ts';
import { useReading } from '../requests/use-reading.ts';

const PAGE = 50;

/** Sentences by kind of entry. Unknown kinds are shown unchanged. */
const SENTENCES = new Map([
  ['account.created', 'You created the account'],
  ['session.opened', 'You signed in'],
  ['session.refreshed', 'A session was renewed'],
  ['session.ended', 'A session ended'],
  ['session.refresh_token_reused', 'A session was ended, because its token was used twice'],
  ['login.failed', 'Someone tried to sign in with a wrong password'],
  ['name.changed', 'You changed your name'],
  ['password.changed', 'You changed your password'],
  ['password.reset', 'A new password was set through a recovery e-mail'],
  ['recovery.requested', 'A recovery e-mail was requested'],
  ['recovery.mail_sent', 'A recovery e-mail was sent'],
  ['email.change_requested', 'You asked to change your e-mail address'],
  ['email.changed', 'Your e-mail address was changed'],
  ['identity.linked', 'A sign-in provider was linked'],
  ['identity.unlinked', 'A sign-in provider was removed'],
  ['token.created', 'You made a token'],
  ['token.ended', 'A token was ended'],
]);

type Entry = ReadAuditEntriesQuery['auditEntries'][number];

export function TrailView() {
  const client = useClient();
  const [older, setOlder] = useState<readonly Entry[]>([]);
  const [hasOlder, setHasOlder] = useState(true);
  const read = async (after: string | null) => {
    const { auditEntries } = await client.request(READ_AUDIT_ENTRIES, { first: PAGE, after });
    if (auditEntries.length < PAGE) setHasOlder(false);
    return auditEntries;
  };
  const reading = useReading(() => read(null), 'trail');
  const entries = [...(reading.data ?? []), ...older];
  const more = useAction(async () => {
    const next = await read(entries.at(-1)?.id ?? null);
    setOlder((before) => [...before, ...next]);
  });
  return (
    <View title="Activity" lead="What happened to your account, newest first. No one can change this list.">
      <Read reading={reading}>
        {() => (
          <>
            <ol class="trail" aria-label="Activity">
              {entries.map(({ id, at, kind, ip }) => (
                <li key={id}>
                  <span class="what">{SENTENCES.get(kind) ?? kind}</span>
                  <span class="soft">
                    <Moment at={at} />
                    {ip && `, from ${ip}`}
                  </span>
                </li>
              ))}
            </ol>
            {hasOlder && <Button text="Show older entries" runs={more} />}
          </>
        )}
      </Read>
      <ActionError error={more.error} />
    </View>
  );
}
