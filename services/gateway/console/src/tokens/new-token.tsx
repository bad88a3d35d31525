import { CREATE_PERSONAL_TOKEN, type TokenScope } from '@taskmesh/client';
import { useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Field, TextField } from '../elements/field.tsx';
import { Form } from '../elements/form.tsx';
import { Section } from '../elements/view.tsx';
import { issueOf } from '../requests/explain.ts';
import { useAction } from '../requests/use-action.ts';
import { ShownToken } from './shown-token.tsx';

const A_DAY = 86_400_000;
/** In days; the API accepts 366 at most. */
const LIVES: [days: number, label: string][] = [
  [7, 'A week'],
  [30, '30 days'],
  [90, '90 days'],
  [365, 'A year'],
];
const USUAL_DAYS = 90;
const FIELDS = ['name', 'expiresAt'];

export function NewToken({ onCreated }: { onCreated: () => void }) {
  const client = useClient();
  const [days, setDays] = useState(USUAL_DAYS);
  const [created, setCreated] = useState<{ name: string; token: string }>();
  const { run, isBusy, error } = useAction(async (values: Record<string, string>, form: HTMLFormElement) => {
    const { name = '', scope } = values;
    const expiresAt = new Date(Date.now() + days * A_DAY).toISOString();
    const input = { name, scope: scope as TokenScope, expiresAt }; // one of the options below
    const { createPersonalToken } = await client.request(CREATE_PERSONAL_TOKEN, { input });
    setCreated({ name, token: createPersonalToken.token });
    form.reset();
    onCreated();
  });
  return (
    <Section title="Make a token">
      {created && <ShownToken {...created} onEnd={() => setCreated(undefined)} />}
      <Form label="Make a token" onSubmit={(values, form) => void run(values, form)} error={error} fields={FIELDS}>
        <TextField
          label="Name"
          name="name"
          autocomplete="off"
          hint="What it is for, so that you recognise it later."
          error={issueOf(error, 'name')}
        />
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
        <Field label="It is valid for" error={issueOf(error, 'expiresAt')}>
          {(links) => (
            <select {...links} value={days} onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}>
              {LIVES.map(([each, label]) => (
                <option key={each} value={each}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <button type="submit" class="primary" disabled={isBusy}>
          Make the token
        </button>
      </Form>
    </Section>
  );
}
