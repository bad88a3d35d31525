import { App, type AppProps } from './app.tsx';
import { isOfOperators, Operations } from './operations/operations.tsx';
import { useRoute } from './route.ts';

/** People and operators come in by different doors: the address says which. */
export function Root(props: AppProps) {
  const { name } = useRoute();
  return isOfOperators(name) ? <Operations /> : <App {...props} />;
}
