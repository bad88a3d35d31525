/** Neither files, even for types only, nor the gateway's folders may import each other in a circle. */
export default {
  forbidden: [
    { name: 'no-file-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-folder-cycles',
      severity: 'error',
      scope: 'folder',
      from: { path: '^services/gateway/src/[^/]+$' },
      to: { circular: true },
    },
  ],
  options: {
    exclude: { path: ['node_modules', '[.]test[.]ts$'] },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.mjs'] },
    tsPreCompilationDeps: true,
  },
};
