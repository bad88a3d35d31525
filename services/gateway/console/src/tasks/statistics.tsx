/** Screen readers say the numbers when they change, here or elsewhere. */
export function Statistics({ total, open }: { total: number; open: number }) {
  const done = total - open;
  return (
    <div class="statistics">
      <p role="status">
        {total > 0 && (
          <>
            <strong>{open}</strong> open, <strong>{done}</strong> done
          </>
        )}
      </p>
      {total > 0 && (
        <>
          <progress aria-label="Done" max={total} value={done} />
          <p class="percent" aria-hidden="true">
            {Math.floor((100 * done) / total)}%
          </p>
        </>
      )}
    </div>
  );
}
