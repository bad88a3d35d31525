import { useClient } from '../client-context.ts';
import { ActionError } from '../elements/action-error.tsx';
import { Icon } from '../elements/icon.tsx';
import { saveAs } from '../elements/save-as.ts';
import { Section } from '../elements/view.tsx';
import { useAction } from '../requests/use-action.ts';

const FILE = 'taskmesh-account.json';

export function ExportData() {
  const client = useClient();
  const { run, isBusy, error } = useAction(async () => {
    const response = await client.fetch('/api/auth/export');
    saveAs(FILE, await response.blob());
  });
  return (
    <Section title="Your data">
      <p>Everything that is stored about you, in one file (JSON): profile, sessions, tokens, activity and tasks.</p>
      <button type="button" disabled={isBusy} onClick={() => void run()}>
        <Icon name="download" />
        {isBusy ? 'Collecting…' : 'Download your data'}
      </button>
      <ActionError error={error} />
    </Section>
  );
}
