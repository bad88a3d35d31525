import { LINKED_IDENTITIES, UNLINK_IDENTITY, type LinkedIdentityFieldsFragment } from '@taskmesh/client';
import { useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { ActionError } from '../elements/action-error.tsx';
import { Confirm } from '../elements/confirm.tsx';
import { Failure } from '../elements/failure.tsx';
import { useTell } from '../elements/notices.tsx';
import { focusHeading, Section } from '../elements/view.tsx';
import { useAction } from '../requests/use-action.ts';
import { useReading } from '../requests/use-reading.ts';
import { useProviderName } from '../session/provider.ts';
import { FirstPassword } from './first-password.tsx';
import { hostOf, IdentityRow } from './identity-row.tsx';
import { LinkIdentity } from './link-identity.tsx';

/** The provider identities that open the account. Shows nothing if there is neither a provider nor an identity. */
export function WaysToSignIn({ userId, email }: { userId: string; email: string }) {
  const client = useClient();
  const tell = useTell();
  const name = useProviderName();
  const [toRemove, setToRemove] = useState<LinkedIdentityFieldsFragment>();
  const { data, error, again } = useReading(() => client.request(LINKED_IDENTITIES, {}), 'identities');
  const remove = useAction(async ({ id, issuer }: LinkedIdentityFieldsFragment) => {
    setToRemove(undefined);
    await client.request(UNLINK_IDENTITY, { id });
    tell({ text: `You can no longer sign in with ${hostOf(issuer)}.` });
    await again();
    focusHeading();
  });
  const identities = data?.linkedIdentities ?? [];
  if (name === undefined && identities.length === 0) return null;
  return (
    <Section title="Ways to sign in">
      {error !== undefined && <Failure error={error} onAgain={() => void again()} />}
      {data && identities.length === 0 && <p>So far, you only sign in with your password.</p>}
      <ul class="rows" aria-label="Ways to sign in">
        {identities.map((identity) => (
          <IdentityRow key={identity.id} identity={identity} onRemove={() => setToRemove(identity)} />
        ))}
      </ul>
      <ActionError error={remove.error} />
      <FirstPassword error={remove.error} email={email} />
      {name !== undefined && <LinkIdentity userId={userId} name={name} onLinked={() => void again()} />}
      {toRemove && (
        <Confirm
          title={`Remove ${hostOf(toRemove.issuer)}?`}
          action="Remove it"
          onConfirm={() => void remove.run(toRemove)}
          onCancel={() => setToRemove(undefined)}
        >
          <p>It can no longer be used to sign in to this account. You can link it again.</p>
        </Confirm>
      )}
    </Section>
  );
}
