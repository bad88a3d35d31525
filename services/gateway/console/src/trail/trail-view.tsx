import { READ_AUDIT_ENTRIES, type ReadAuditEntriesQuery } from '@taskmesh/client';
import { useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { ActionError } from '../elements/action-error.tsx';
import { Failure } from '../elements/failure.tsx';
import { Loading } from '../elements/loading.tsx';
import { Moment } from '../elements/times.tsx';
import { View } from '../elements/view.tsx';
import { useAction } from '../requests/use-action.ts';
import { useReading } from '../requests/use-reading.ts';
import { sentenceFor } from './sentences.ts';

const PAGE = 50;

type Entry = ReadAuditEntriesQuery['auditEntries'][number];

export function TrailView() {
  const client = useClient();
  const [older, setOlder] = useState<readonly Entry[]>([]);
  const [hasOlder, setHasOlder] = useState(true);
  const read = async (after: string | null) => {
    const { auditEntries } = await client.request(READ_AUDIT_ENTRIES, { first: PAGE, after });
    if (auditEntries.length < PAGE) setHasOlder(false);
    return auditEntries;
  };
  const { data, error, again } = useReading(() => read(null), 'trail');
  const entries = [...(data ?? []), ...older];
  const more = useAction(async () => {
    const next = await read(entries.at(-1)?.id ?? null);
    setOlder((before) => [...before, ...next]);
  });
  return (
    <View title="Activity" lead="What happened to your account, newest first. Nobody can change this list.">
      {!data && error === undefined && <Loading />}
      {error !== undefined && <Failure error={error} onAgain={() => void again()} />}
      <ol class="trail" aria-label="Activity">
        {entries.map(({ id, at, kind, ip }) => (
          <li key={id}>
            <span class="what">{sentenceFor(kind)}</span>
            <span class="soft">
              <Moment at={at} />
              {ip && `, from ${ip}`}
            </span>
          </li>
        ))}
      </ol>
      {data && hasOlder && (
        <button type="button" disabled={more.isBusy} onClick={() => void more.run()}>
          Show older entries
        </button>
      )}
      <ActionError error={more.error} />
    </View>
  );
}
