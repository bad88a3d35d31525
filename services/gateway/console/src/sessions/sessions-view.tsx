import { END_OTHER_SESSIONS, END_SESSION, READ_SESSIONS } from '@taskmesh/client';
import { useClient } from '../client-context.ts';
import { ActionError } from '../elements/form.tsx';
import { useNotify } from '../elements/notices.tsx';
import { Ago } from '../elements/times.tsx';
import { Button, focusHeading, Read, Row, View } from '../elements/view.tsx';
import { useAction } from '../requests/use-action.ts';
import { useReading } from '../requests/use-reading.ts';
import { nameOf } from './program-name.ts';

const LEAD = 'Where you are signed in. End any that you do not recognise, then change your password.';

export function SessionsView() {
  const client = useClient();
  const notify = useNotify();
  const reading = useReading(() => client.request(READ_SESSIONS, {}), 'sessions');
  const reportEnd = async (text: string) => {
    notify({ text });
    await reading.again();
    focusHeading();
  };
  const end = useAction(async (id: string) => {
    await client.request(END_SESSION, { id });
    await reportEnd('The session has ended.');
  });
  const endOthers = useAction(async () => {
    const { endOtherSessions: count } = await client.request(END_OTHER_SESSIONS, {});
    await reportEnd(count === 1 ? 'One session has ended.' : `${count} sessions have ended.`);
  });
  return (
    <View title="Sessions" lead={LEAD}>
      <ActionError error={end.error ?? endOthers.error} />
      <Read reading={reading}>
        {({ sessions }) => (
          <>
            <ul class="rows" aria-label="Sessions">
              {sessions.map(({ id, createdAt, lastUsedAt, ip, client: userAgent, current }) => {
                const name = nameOf(userAgent);
                return (
                  <Row
                    key={id}
                    icon="devices"
                    title={name}
                    hint={userAgent ?? undefined}
                    label={current && 'This device'}
                    action={
                      !current && { label: 'End', name: `End the session of ${name}`, run: () => void end.run(id) }
                    }
                  >
                    Used <Ago at={lastUsedAt} />
                    {ip && ` from ${ip}`}, opened <Ago at={createdAt} />
                  </Row>
                );
              })}
            </ul>
            {sessions.length > 1 && <Button text="End all other sessions" class="danger" runs={endOthers} />}
          </>
        )}
      </Read>
    </View>
  );
}
