import { LINKED_IDENTITIES, UNLINK_IDENTITY, type LinkedIdentityFieldsFragment } from '@taskmesh/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Confirm } from '../elements/confirm.tsx';
import { ActionError, Form, PasswordField, Problem, Submit } from '../elements/form.tsx';
import { useNotify } from '../elements/notices.tsx';
import { Ago } from '../elements/times.tsx';
import { Button, Failure, focusHeading, Row, Section } from '../elements/view.tsx';
import { explain } from '../requests/explain.ts';
import { useAction, useSending } from '../requests/use-action.ts';
import { useReading } from '../requests/use-reading.ts';
import { explainRefusal, withoutCode } from '../session/arrival.ts';
import { useProvider, useProviderName } from '../session/provider.ts';
import { FirstPassword } from './first-password.tsx';

const hostOf = (issuer: string): string => new URL(issuer).host;

/** The provider identities linked to the account. Renders nothing if there is neither a provider nor an identity. */
export function WaysToSignIn({ userId, email }: { userId: string; email: string }) {
  const client = useClient();
  const notify = useNotify();
  const name = useProviderName();
  const [toRemove, setToRemove] = useState<LinkedIdentityFieldsFragment>();
  const { data, error, again } = useReading(() => client.request(LINKED_IDENTITIES, {}), 'identities');
  const remove = useAction(async ({ id, issuer }: LinkedIdentityFieldsFragment) => {
    setToRemove(undefined);
    await client.request(UNLINK_IDENTITY, { id });
    notify({ text: `You can no longer sign in with ${hostOf(issuer)}.` });
    await again();
    focusHeading();
  });
  const identities = data?.linkedIdentities ?? [];
  if (name === undefined && identities.length === 0) return null;
  return (
    <Section title="Ways to sign in">
      <Failure error={error} onAgain={() => void again()} />
      {data && identities.length === 0 && <p>So far, you only sign in with your password.</p>}
      <ul class="rows" aria-label="Ways to sign in">
        {identities.map((identity) => (
          <Row
            key={identity.id}
            icon="key"
            title={hostOf(identity.issuer)}
            action={{ label: 'Remove', name: `Remove ${hostOf(identity.issuer)}`, run: () => setToRemove(identity) }}
          >
            As {identity.email}, linked <Ago at={identity.createdAt} />, used <Ago at={identity.lastUsedAt} />
          </Row>
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

interface LinkIdentityProps {
  userId: string;
  /** The provider's name. */
  name: string;
  onLinked: () => void;
}

/** Sends the user to the provider, and asks for the password on return. */
function LinkIdentity({ userId, name, onLinked }: LinkIdentityProps) {
  const { provider, arrival, endArrival } = useProvider();
  const go = useAction(() => provider.go({ stay: false, linkTo: userId }));
  const answer = arrival?.pending.linkTo === userId ? arrival.result : undefined;
  if (answer && 'code' in answer)
    return <ConfirmLink code={answer.code} name={name} onLinked={onLinked} onEnd={endArrival} />;
  const problem = go.error === undefined ? answer && explainRefusal(answer) : explain(go.error);
  return (
    <>
      <Button text={`Link ${name}`} runs={go} />
      <Problem class="form-error" text={problem} />
    </>
  );
}

interface ConfirmLinkProps extends Omit<LinkIdentityProps, 'userId'> {
  code: string;
  onEnd: () => void;
}

function ConfirmLink({ code, name, onLinked, onEnd }: ConfirmLinkProps) {
  const client = useClient();
  const notify = useNotify();
  const part = useRef<HTMLDivElement>(null);
  const action = useSending({ password: 'Type your password.' }, async ({ password = '' }) => {
    await withoutCode(client.linkIdentity(code, password));
    notify({ text: `You can sign in with ${name} now.` });
    onLinked();
    onEnd();
  });
  useEffect(() => part.current?.querySelector('input')?.focus(), []);
  return (
    <div ref={part} class="part">
      <p>You are back from {name}. Type your password within ten minutes to link it to this account.</p>
      <Form label={`Link ${name}`} action={action}>
        <PasswordField label="Your Taskmesh password" />
        <div class="buttons">
          <Button text="Cancel" onClick={onEnd} />
          <Submit text="Link it" class="primary" />
        </div>
      </Form>
    </div>
  );
}
