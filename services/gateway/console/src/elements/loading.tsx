/** Shows itself only when it takes a while: most answers come before anybody could read this. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <p class="loading" role="status">
      {what}…
    </p>
  );
}
