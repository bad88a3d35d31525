import {
  CREATE_PERSONAL_TOKEN,
  END_PERSONAL_TOKEN,
  READ_PERSONAL_TOKENS,
  type PersonalTokenFieldsFragment,
  type TokenScope,
} from '@taskmesh/client';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Confirm } from '../elements/confirm.tsx';
import { ActionError, Field, Form, optionsOf, Submit, TextField } from '../elements/form.tsx';
import { useNotify } from '../elements/notices.tsx';
import { Ago, Day } from '../elements/times.tsx';
import { useLeaveGuard } from '../elements/use-leave-guard.ts';
import { Button, focusHeading, Read, Row, Section, View } from '../elements/view.tsx';
import { useAction, useSending } from '../requests/use-action.ts';
import { useReading } from '../requests/use-reading.ts';

const LEAD =
  'For programs that work for you: scripts, integrations, the command line. They use a token instead of your password.';

export function TokensView() {
  const client = useClient();
  const notify = useNotify();
  const [toEnd, setToEnd] = useState<PersonalTokenFieldsFragment>();
  const reading = useReading(() => client.request(READ_PERSONAL_TOKENS, {}), 'tokens');
  const end = useAction(async ({ id, name }: PersonalTokenFieldsFragment) => {
    setToEnd(undefined);
    await client.request(END_PERSONAL_TOKEN, { id });
    notify({ text: `The token “${name}” has ended.` });
    await reading.again();
    focusHeading();
  });
  return (
    <View title="Tokens" lead={LEAD}>
      <NewToken onCreated={() => void reading.again()} />
      <Section title="Active tokens">
        <ActionError error={end.error} />
        <Read reading={reading}>
          {({ personalTokens: tokens }) => (
            <>
              {tokens.length === 0 && <p class="soft">You have none.</p>}
              <ul class="rows" aria-label="Tokens">
                {tokens.map((token) => (
                  <Row
                    key={token.id}
                    icon="key"
                    title={token.name}
                    label={token.scope === 'READ' ? 'Reads' : 'Reads and writes'}
                    action={{ label: 'End', name: `End the token ${token.name}`, run: () => setToEnd(token) }}
                  >
                    Expires on <Day at={token.expiresAt} />, {token.lastUsedAt ? 'used ' : 'never used'}
                    {token.lastUsedAt && <Ago at={token.lastUsedAt} />}
                  </Row>
                ))}
              </ul>
            </>
          )}
        </Read>
      </Section>
      {toEnd && (
        <Confirm
          title={`End the token “${toEnd.name}”?`}
          action="End it"
          onConfirm={() => void end.run(toEnd)}
          onCancel={() => setToEnd(undefined)}
        >
          <p>Programs that use it are signed out at once. It cannot be brought back.</p>
        </Confirm>
      )}
    </View>
  );
}

const A_DAY = 86_400_000;
/** Lifetimes in days; the API accepts 366 at most. */
const LIVES: [days: number, label: string][] = [
  [7, 'A week'],
  [30, '30 days'],
  [90, '90 days'],
  [365, 'A year'],
];
const USUAL_DAYS = 90;

function NewToken({ onCreated }: { onCreated: () => void }) {
  const client = useClient();
  const [days, setDays] = useState(USUAL_DAYS);
  const [created, setCreated] = useState<{ name: string; token: string }>();
  useLeaveGuard(created !== undefined);
  const action = useSending({}, async ({ name = '', scope }, form) => {
    const expiresAt = new Date(Date.now() + days * A_DAY).toISOString();
    const input = { name, scope: scope as TokenScope, expiresAt }; // from the radio buttons below
    const { createPersonalToken } = await client.request(CREATE_PERSONAL_TOKEN, { input });
    setCreated({ name, token: createPersonalToken.token });
    form.reset();
    onCreated();
  });
  return (
    <Section title="Make a token">
      {created && <ShownToken {...created} onEnd={() => setCreated(undefined)} />}
      <Form label="Make a token" action={action}>
        <TextField label="Name" name="name" autocomplete="off" hint="What it is for, so that you recognise it later." />
        <fieldset class="options">
          <legend>It may</legend>
          <label class="check">
            <input type="radio" name="scope" value="READ" defaultChecked />
            <span>read your tasks and your account</span>
          </label>
          <label class="check">
            <input type="radio" name="scope" value="WRITE" />
            <span>write as well, but not change how you sign in</span>
          </label>
        </fieldset>
        <Field label="It is valid for" name="expiresAt">
          {(links) => (
            <select {...links} value={days} onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}>
              {optionsOf(LIVES)}
            </select>
          )}
        </Field>
        <Submit text="Make the token" class="primary" />
      </Form>
    </Section>
  );
}

/** Shows a new token. This is the only time it can be seen. */
function ShownToken({ name, token, onEnd }: { name: string; token: string; onEnd: () => void }) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    setIsCopied(false);
    input.current?.select();
  }, [token]);
  const copy = async () => {
    input.current?.select();
    // Pages without TLS cannot use the clipboard, so the text is selected for manual copying.
    await navigator.clipboard?.writeText(token).then(
      () => setIsCopied(true),
      () => undefined,
    );
  };
  return (
    <div class="shown-token" role="group" aria-labelledby={id}>
      <p id={id}>
        <strong>Your token “{name}”.</strong> Copy it now: it is shown only once.
      </p>
      <div class="line">
        <input ref={input} type="text" readOnly aria-label="The token" value={token} spellcheck={false} />
        <Button icon={isCopied ? 'check' : 'copy'} text={isCopied ? 'Copied' : 'Copy'} onClick={() => void copy()} />
        <Button text="I have copied it" class="quiet" onClick={onEnd} />
      </div>
    </div>
  );
}
