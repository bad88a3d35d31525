import { CHART_NAMES } from '../tools/generated.ts';
import { valuesFiles, type RenderOptions } from './support/helm.ts';
import { ODD_VALUES } from './support/odd-values.ts';

/** Every values file of both charts, by its chart and name. */
export const SHIPPED: [name: string, options: RenderOptions][] = CHART_NAMES.flatMap((chart) =>
  valuesFiles(chart).map((values): [string, RenderOptions] => [`${chart} with ${values}`, { chart, values }]),
);
export const SHIPPED_AND_ODD = [...Object.entries(ODD_VALUES), ...SHIPPED];
