import { join, relative } from 'node:path';
import ts from 'typescript';
import { createExecutors, has, type Project } from './check.ts';

/** One program of what the projects have and import: what several of them use is read and checked once. */
async function* typecheck(projects: Project[], root: string) {
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    root,
  );
  const inProject = (project: Project, file: string) => has(project, relative(root, file));
  // Declarations are not imported: every project may need them.
  const rootNames = fileNames.filter(
    (file) => file.endsWith('.d.ts') || projects.some((project) => inProject(project, file)),
  );
  const program = ts.createProgram({
    rootNames,
    options: { ...options, incremental: false, tsBuildInfoFile: undefined },
  });
  const ofAll = [...errors, ...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()];
  for (const project of projects) {
    const files = fileNames.filter((file) => inProject(project, file)).map((file) => program.getSourceFile(file));
    const found = files.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]);
    yield { project, findings: shown([...ofAll, ...found], root) };
  }
}

function shown(diagnostics: ts.Diagnostic[], root: string): string {
  const host = {
    getCurrentDirectory: () => root,
    getCanonicalFileName: (name: string) => name,
    getNewLine: () => '\n',
  };
  return ts.formatDiagnosticsWithColorAndContext(diagnostics, host);
}

export const { all: checkAll, one: checkOne } = createExecutors(typecheck);
