import { App, type AppProps } from './app.tsx';
import { isOfOperators, Operations } from './operations/operations.tsx';
import { useRoute } from './route.ts';

/** Users and operators have separate applications, chosen by the address. */
export function Root(props: AppProps) {
  const { name } = useRoute();
  return isOfOperators(name) ? <Operations /> : <App {...props} />;
}
