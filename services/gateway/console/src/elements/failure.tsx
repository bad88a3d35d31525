import { explain } from '../requests/explain.ts';

/** In the place of what could not be read. */
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
