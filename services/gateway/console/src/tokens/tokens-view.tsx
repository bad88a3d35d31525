import { END_PERSONAL_TOKEN, READ_PERSONAL_TOKENS } from '@taskmesh/client';
import { useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { ActionError } from '../elements/action-error.tsx';
import { Confirm } from '../elements/confirm.tsx';
import { Failure } from '../elements/failure.tsx';
import { Loading } from '../elements/loading.tsx';
import { useTell } from '../elements/notices.tsx';
import { focusHeading, Section, View } from '../elements/view.tsx';
import { useAction } from '../requests/use-action.ts';
import { useReading } from '../requests/use-reading.ts';
import { NewToken } from './new-token.tsx';
import { TokenRow, type PersonalToken } from './token-row.tsx';

const LEAD =
  'For programs that work for you: scripts, integrations, the command line. They use a token instead of your password.';

export function TokensView() {
  const client = useClient();
  const tell = useTell();
  const [toEnd, setToEnd] = useState<PersonalToken>();
  const { data, error, again } = useReading(() => client.request(READ_PERSONAL_TOKENS, {}), 'tokens');
  const end = useAction(async ({ id, name }: PersonalToken) => {
    setToEnd(undefined);
    await client.request(END_PERSONAL_TOKEN, { id });
    tell({ text: `The token “${name}” has ended.` });
    await again();
    focusHeading();
  });
  return (
    <View title="Tokens" lead={LEAD}>
      <NewToken onCreated={() => void again()} />
      <Section title="Active tokens">
        {!data && error === undefined && <Loading />}
        {error !== undefined && <Failure error={error} onAgain={() => void again()} />}
        <ActionError error={end.error} />
        {data?.personalTokens.length === 0 && <p class="soft">You have none.</p>}
        <ul class="rows" aria-label="Tokens">
          {data?.personalTokens.map((token) => (
            <TokenRow key={token.id} token={token} onEnd={() => setToEnd(token)} />
          ))}
        </ul>
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
