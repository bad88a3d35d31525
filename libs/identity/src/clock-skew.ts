/** Clocks of services may differ by this much, in both directions. */
export const CLOCK_SKEW_S = 30;
