import { END_OTHER_SESSIONS, END_SESSION, READ_SESSIONS } from '@taskmesh/client';
import { useClient } from '../client-context.ts';
import { ActionError } from '../elements/action-error.tsx';
import { Failure } from '../elements/failure.tsx';
import { Loading } from '../elements/loading.tsx';
import { useTell } from '../elements/notices.tsx';
import { focusHeading, View } from '../elements/view.tsx';
import { useAction } from '../requests/use-action.ts';
import { useReading } from '../requests/use-reading.ts';
import { SessionRow } from './session-row.tsx';

export function SessionsView() {
  const client = useClient();
  const tell = useTell();
  const { data, error, again } = useReading(() => client.request(READ_SESSIONS, {}), 'sessions');
  const end = useAction(async (id: string) => {
    await client.request(END_SESSION, { id });
    tell({ text: 'The session has ended.' });
    await again();
    focusHeading();
  });
  const endOthers = useAction(async () => {
    const { endOtherSessions: count } = await client.request(END_OTHER_SESSIONS, {});
    tell({ text: count === 1 ? 'One session has ended.' : `${count} sessions have ended.` });
    await again();
    focusHeading();
  });
  const problem = end.error ?? endOthers.error;
  const sessions = data?.sessions ?? [];
  return (
    <View
      title="Sessions"
      lead="Where you are signed in. End any that you do not recognise, then change your password."
    >
      {!data && error === undefined && <Loading />}
      {error !== undefined && <Failure error={error} onAgain={() => void again()} />}
      <ActionError error={problem} />
      <ul class="rows" aria-label="Sessions">
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session} onEnd={() => void end.run(session.id)} />
        ))}
      </ul>
      {sessions.length > 1 && (
        <button type="button" class="danger" disabled={endOthers.isBusy} onClick={() => void endOthers.run()}>
          End all other sessions
        </button>
      )}
    </View>
  );
}
