import { useEffect, useRef } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Form } from '../elements/form.tsx';
import { useTell } from '../elements/notices.tsx';
import { PasswordField } from '../elements/password-field.tsx';
import { explain, issueOf } from '../requests/explain.ts';
import { requireFilled } from '../requests/require-filled.ts';
import { useAction } from '../requests/use-action.ts';
import { explainRefusal, withoutCode } from '../session/arrival.ts';
import { useProvider } from '../session/provider.ts';

const FIELDS = ['password'];

export interface LinkIdentityProps {
  userId: string;
  /** The provider's name. */
  name: string;
  onLinked: () => void;
}

/** Sends the user to the provider, and asks for their password afterwards. */
export function LinkIdentity({ userId, name, onLinked }: LinkIdentityProps) {
  const { provider, arrival, endArrival } = useProvider();
  const { run, isBusy, error } = useAction(() => provider.go({ stay: false, linkTo: userId }));
  const answer = arrival?.errand.linkTo === userId ? arrival.answer : undefined;
  if (answer && 'code' in answer)
    return <ConfirmLink code={answer.code} name={name} onLinked={onLinked} onEnd={endArrival} />;
  const problem = error === undefined ? answer && explainRefusal(answer) : explain(error);
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => void run()}>
        Link {name}
      </button>
      {problem !== undefined && (
        <p class="form-error" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

interface ConfirmLinkProps {
  code: string;
  name: string;
  onLinked: () => void;
  onEnd: () => void;
}

function ConfirmLink({ code, name, onLinked, onEnd }: ConfirmLinkProps) {
  const client = useClient();
  const tell = useTell();
  const part = useRef<HTMLDivElement>(null);
  const { run, isBusy, error } = useAction(async (password: string) => {
    requireFilled({ password }, { password: 'Type your password.' });
    await client.linkIdentity(code, password);
    tell({ text: `You can sign in with ${name} now.` });
    onLinked();
    onEnd();
  });
  useEffect(() => part.current?.querySelector('input')?.focus(), []);
  return (
    <div ref={part} class="part">
      <p>You are back from {name}. Type your password within ten minutes to link it to this account.</p>
      <Form
        label={`Link ${name}`}
        onSubmit={({ password = '' }) => void run(password)}
        error={withoutCode(error)}
        fields={FIELDS}
      >
        <PasswordField
          label="Your Taskmesh password"
          name="password"
          autocomplete="current-password"
          error={issueOf(error, 'password')}
        />
        <div class="buttons">
          <button type="button" onClick={onEnd}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Link it
          </button>
        </div>
      </Form>
    </div>
  );
}
