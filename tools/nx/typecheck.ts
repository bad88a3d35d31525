import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { createExecutors, has, type Project } from './check.ts';

/** Uses one program for all projects, so that shared files are read and checked once, and another one for files with other globals. */
async function* typecheck(projects: Project[], root: string) {
  const files = globSync('services/**/tsconfig.json', { cwd: root, exclude: (name) => name.includes('node_modules') });
  const programs = ['tsconfig.json', ...files].map((file) => createProgram(file, projects, root));
  for (const project of projects) {
    const found = programs.flatMap((check) => check(project));
    yield { project, findings: shown(found, root) };
  }
}

/** Returns a function that returns the errors of a project's files in this program. */
function createProgram(file: string, projects: Project[], root: string): (project: Project) => ts.Diagnostic[] {
  const path = join(root, file);
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(path, ts.sys.readFile).config,
    ts.sys,
    join(path, '..'),
  );
  const inProject = (project: Project, name: string) => has(project, relative(root, name));
  if (!fileNames.some((name) => projects.some((project) => inProject(project, name)))) return () => [];
  // Declarations are not imported, and every project may need them.
  const rootNames = fileNames.filter(
    (name) => name.endsWith('.d.ts') || projects.some((project) => inProject(project, name)),
  );
  const program = ts.createProgram({
    rootNames,
    options: { ...options, incremental: false, tsBuildInfoFile: undefined },
  });
  const ofAll = [...errors, ...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()];
  return (project) => {
    const own = fileNames.filter((name) => inProject(project, name)).map((name) => program.getSourceFile(name));
    if (own.length === 0) return [];
    const found = own.flatMap((each) => [
      ...program.getSyntacticDiagnostics(each),
      ...program.getSemanticDiagnostics(each),
    ]);
    return [...ofAll, ...found];
  };
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
