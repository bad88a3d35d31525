import { Sentence } from '../elements/sentence.tsx';
import { explainError } from './api/operators-error.ts';

/** What went wrong, in the place where it was asked for. */
export function Problem({ error, onAgain }: { error: unknown; onAgain?: () => void }) {
  if (error === undefined) return null;
  return (
    <div class="failure" role="alert">
      <p>
        <Sentence text={explainError(error)} />
      </p>
      {onAgain && (
        <button type="button" onClick={onAgain}>
          Try again
        </button>
      )}
    </div>
  );
}
