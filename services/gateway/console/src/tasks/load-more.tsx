import { explain } from '../requests/explain.ts';
import { useAction } from '../requests/use-action.ts';

export function LoadMore({ shown, total, onMore }: { shown: number; total: number; onMore: () => Promise<void> }) {
  const { run, isBusy, error } = useAction(() => onMore());
  return (
    <div class="more">
      <p>
        {shown} of {total} shown
      </p>
      <button type="button" disabled={isBusy} onClick={() => void run()}>
        {isBusy ? 'Loading…' : 'Show more'}
      </button>
      {error !== undefined && (
        <p class="field-error" role="alert">
          {explain(error)}
        </p>
      )}
    </div>
  );
}
