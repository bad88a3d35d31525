import { explain } from '../requests/explain.ts';

/** Shown in place of data that could not be loaded. */
export function Failure({ error, onAgain }: { error: unknown; onAgain: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{explain(error)}</p>
      <button type="button" onClick={onAgain}>
        Try again
      </button>
    </div>
  );
}
