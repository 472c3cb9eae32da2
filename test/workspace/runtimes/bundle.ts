import { build } from 'esbuild'

/** A bundle of a program: its text and what it imports that is not in it. */
export interface Bundle {
  readonly text: string
  readonly bytes: number
  readonly imports: readonly string[]
}

/** The export conditions that bundlers set for each runtime, beside `import` and `default`. */
const CONDITIONS = {
  workerd: ['workerd', 'worker', 'browser'],
  deno: ['deno'],
  bun: ['bun'],
} as const

/** The runtimes that are not Node. */
export type Runtime = keyof typeof CONDITIONS
export const runtimes = Object.keys(CONDITIONS) as Runtime[]

/**
 * Bundles a program for a runtime as a team would, minified. Builtins of Node are left as imports, so that they are seen.
 * Relative imports and packages are found from `resolveDir`.
 */
export async function bundle(
  runtime: Runtime,
  program: string,
  resolveDir = 'build/test/workspace/runtimes',
): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    mainFields: ['browser', 'module', 'main'],
    conditions: [...CONDITIONS[runtime]],

    external: ['node:*', 'cloudflare:*', ...BUILTINS],
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const [output] = Object.values(metafile.outputs)
  const text = outputFiles[0]?.text ?? ''
  return { text, bytes: output?.bytes ?? 0, imports: output?.imports.map(({ path }) => path) ?? [] }
}

const BUILTINS = ['async_hooks', 'buffer', 'cluster', 'crypto', 'http', 'stream', 'string_decoder', 'util']
