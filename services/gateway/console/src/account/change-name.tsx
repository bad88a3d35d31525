import { useClient } from '../client-context.ts';
import { TextField } from '../elements/field.tsx';
import { Form } from '../elements/form.tsx';
import { useTell } from '../elements/notices.tsx';
import { Section } from '../elements/view.tsx';
import { issueOf } from '../requests/explain.ts';
import { useAction } from '../requests/use-action.ts';

const FIELDS = ['name'];

export function ChangeName({ name }: { name: string }) {
  const client = useClient();
  const tell = useTell();
  const { run, isBusy, error } = useAction(async (next: string) => {
    await client.changeName(next);
    tell({ text: 'Your name is changed.' });
  });
  return (
    <Section title="Name">
      <Form label="Name" onSubmit={(values) => void run(values['name'] ?? '')} error={error} fields={FIELDS}>
        <TextField
          label="Display name"
          name="name"
          autocomplete="name"
          defaultValue={name}
          error={issueOf(error, 'name')}
        />
        <button type="submit" disabled={isBusy}>
          Save the name
        </button>
      </Form>
    </Section>
  );
}
