import { execFileSync } from 'node:child_process'
import { build } from 'esbuild'
import { COMPILED } from '../programs.ts'
import { compiled } from './test-processes.ts'

/** Files that a revision does not have as they are in this folder: committed since, changed, new or deleted. */
export function changedSince(revision: string, folder = '.'): string[] {
  const git = (...args: string[]): string[] =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).split('\n').filter(Boolean)
  return [...git('diff', '--name-only', revision), ...git('ls-files', '--others', '--exclude-standard')]
}

/** The test files that a change reaches, and the changed files that no import of a test reaches. */
export interface Reached {
  readonly tests: readonly string[]
  readonly unseen: readonly string[]
}

/**
 * The sources of `tests` that import one of `changed`, or are one, however far away. Tests that start the host or its command count as
 * importing them. Other programs that a test starts, and files that it reads, are not imported: a change of these is `unseen`.
 */
export async function reachedBy(changed: readonly string[], tests: readonly string[]): Promise<Reached> {
  const imports = await importsOf(tests)
  const importers = new Map<string, string[]>()
  for (const [source, targets] of imports) {
    for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), source])
  }
  const reached = new Set(changed)
  // A set that grows while it is read is read to its new end.
  for (const source of reached) for (const importer of importers.get(source) ?? []) reached.add(importer)
  const unseen = changed.filter(source => !imports.has(source))
  return { tests: tests.filter(test => reached.has(test)), unseen }
}

/** What each source imports, of the sources that tests import. The compiled files say it: the build has resolved them. */
async function importsOf(tests: readonly string[]): Promise<Map<string, string[]>> {
  const programs = Object.values(COMPILED)
  const { metafile } = await build({
    entryPoints: [...tests.map(compiled), ...programs],
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    outdir: 'build/imports',
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
    plugins: [
      {
        name: 'own-files-only',
        setup: ({ onResolve }) => {
          // Packages of others cannot have changed without the lockfile, which no import reaches.
          onResolve({ filter: /^[^./#]/ }, ({ path, kind }) =>
            kind === 'entry-point' || path.startsWith('@gatewright/') || path.startsWith('gatewright')
              ? undefined
              : { external: true },
          )
        },
      },
    ],
  })
  const imports = new Map(
    Object.entries(metafile.inputs).map(([file, { imports }]) => [
      sourceOf(file),
      imports.filter(({ external }) => !external).map(({ path }) => sourceOf(path)),
    ]),
  )
  imports.get(STARTS_PROGRAMS)?.push(...programs.map(sourceOf))
  return imports
}

/** What tests import to start the host or its command. */
const STARTS_PROGRAMS = 'test/harness/programs.ts'

/** The source that was compiled to a file of the build. */
function sourceOf(file: string): string {
  return file
    .replace(/^build\/(?=test\/|examples\/)/, '')
    .replace(/^(packages\/[^/]+)\/dist\//, '$1/src/')
    .replace(/\.js$/, '.ts')
}
