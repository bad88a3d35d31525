import { isBuiltin, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

/**
 * While `work` runs, modules below `dir` import our packages, and, instead of the specifiers in `standIns`, the files there.
 */
export async function withStandIns<Result>(
  dir: string,
  standIns: Readonly<Record<string, URL>>,
  work: () => Promise<Result>,
): Promise<Result> {
  const base = pathToFileURL(`${dir}/`).href;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (!context.parentURL?.startsWith(base)) return next(specifier, context);
      const standIn = standIns[specifier];
      if (standIn) return { url: standIn.href, format: 'module-typescript', shortCircuit: true };
      if (specifier.startsWith('.')) return next(specifier.replace(/\.js$/, '.ts'), context);
      return isBuiltin(specifier)
        ? next(specifier, context)
        : { url: import.meta.resolve(specifier), shortCircuit: true };
    },
  });
  return work().finally(() => hooks.deregister());
}
