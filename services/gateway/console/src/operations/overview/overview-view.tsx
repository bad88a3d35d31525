import { Loading } from '../../elements/loading.tsx';
import { View } from '../../elements/view.tsx';
import { useApi } from '../api/api-context.ts';
import type { PlatformStatus } from '../api/types.ts';
import { Problem } from '../problem.tsx';
import { usePolling } from '../use-polling.ts';
import { BackupsCard } from './backups-card.tsx';
import { FeedCard } from './feed-card.tsx';
import { Problems } from './problems.tsx';
import { ReadersCard } from './readers-card.tsx';
import { ServicesCard } from './services-card.tsx';

const EVERY_MS = 4_000;

export function OverviewView() {
  const api = useApi();
  const { data, error, again } = usePolling(
    () => api.get<{ data: PlatformStatus }>('/operations/status').then(({ data }) => data),
    EVERY_MS,
  );
  return (
    <View title="Overview">
      {!data && error === undefined && <Loading />}
      <Problem error={error} onAgain={() => void again()} />
      {data && (
        <>
          <Problems status={data} isStale={error !== undefined} />
          <ServicesCard services={data.services} />
          <div class="pair">
            <FeedCard status={data} />
            <BackupsCard backups={data.backups} />
          </div>
          <ReadersCard realtime={data.realtime} />
        </>
      )}
    </View>
  );
}
