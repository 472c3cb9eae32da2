import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { PAID_ONCE } from './programs.ts'

/** A way to load a program, in a folder of its own: writes its files, and returns the arguments of Node. */
export type Loader = (folder: string, program: string) => readonly string[]

const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'commonjs',
    esModuleInterop: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    isolatedModules: true,
    skipLibCheck: true,
    strict: true,
  },
}

/** The starter of Nest resolves types by the exports of packages. */
const TSCONFIG_NODENEXT = {
  compilerOptions: { ...TSCONFIG.compilerOptions, module: 'nodenext', moduleResolution: 'nodenext' },
}

const PRINT = '\nrun().then(lines => console.log(JSON.stringify(lines)))\n'
const TEST = `\ntest('pays once', async () => { expect(await run()).toEqual(${JSON.stringify(PAID_ONCE)}) })\n`

function write(folder: string, files: Readonly<Record<string, string | object>>): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
}

const javascript = (program: string, format: 'esm' | 'cjs'): string =>
  transformSync(program, { loader: 'ts', format, target: 'es2022', tsconfigRaw: JSON.stringify(TSCONFIG) })
    .code

const bin = (name: string): string => `../node_modules/${name}`

/** Writes files that are run by one program. */
const made =
  (
    files: (program: string) => Readonly<Record<string, string | object>>,
    args: readonly string[],
    type = 'commonjs',
  ): Loader =>
  (folder, program) => {
    write(folder, { 'package.json': { type }, 'tsconfig.json': TSCONFIG, ...files(program) })
    return args
  }

/** A bundle by esbuild, or by webpack of what esbuild has compiled, in which gatewright is. */
const EXTERNAL = "['express', 'reflect-metadata', '@nestjs/common', '@nestjs/core', '@opentelemetry/api']"
const esbuild = (format: 'esm' | 'cjs'): Loader =>
  made(
    program => ({
      'app.ts': program + PRINT,
      'run.mjs': `
import { build } from 'esbuild'
const outfile = 'out.${format === 'esm' ? 'mjs' : 'cjs'}'
await build({ entryPoints: ['app.ts'], outfile, bundle: true, platform: 'node', format: '${format}', external: ${EXTERNAL} })
await import('./' + outfile)`,
    }),
    ['run.mjs'],
  )

const jest = (config: object, args: readonly string[] = []): readonly string[] => {
  const options = JSON.stringify({ testEnvironment: 'node', rootDir: '.', ...config })
  return [...args, bin('jest/bin/jest.js'), '--ci', '--runInBand', '--config', options]
}
const SWC = {
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true },
    target: 'es2022',
  },
}

const plainJest = made(
  program => ({ 'app.test.js': javascript(program + TEST, 'cjs') }),
  jest({ transform: {} }),
)
const tsJest = made(
  program => ({ 'app.spec.ts': program + TEST, 'tsconfig.json': TSCONFIG_NODENEXT }),
  jest({ testRegex: String.raw`.*\.spec\.ts$`, transform: { [String.raw`^.+\.(t|j)s$`]: 'ts-jest' } }),
)

/** Loaders of the project with jest 29. */
export const JEST_29_LOADERS: Readonly<Record<string, Loader>> = {
  'jest 29, plain': plainJest,
  'jest 29, ts-jest': tsJest,
}

export const LOADERS: Readonly<Record<string, Loader>> = {
  'node import': made(program => ({ 'app.mjs': javascript(program + PRINT, 'esm') }), ['app.mjs']),
  'node require': made(program => ({ 'app.cjs': javascript(program + PRINT, 'cjs') }), ['app.cjs']),
  'node require without ES modules': made(
    program => ({ 'app.cjs': javascript(program + PRINT, 'cjs') }),
    ['--no-experimental-require-module', 'app.cjs'],
  ),
  'tsx, CommonJS': made(program => ({ 'app.ts': program + PRINT }), [bin('tsx/dist/cli.mjs'), 'app.ts']),
  'tsx, ES modules': made(
    program => ({ 'app.ts': program + PRINT }),
    [bin('tsx/dist/cli.mjs'), 'app.ts'],
    'module',
  ),
  'ts-node': made(
    program => ({ 'app.ts': program + PRINT }),
    [bin('ts-node/dist/bin.js'), '--transpile-only', 'app.ts'],
  ),
  'jest, plain': plainJest,
  'jest, ts-jest': tsJest,
  'jest, ES modules': made(
    program => ({ 'app.test.mjs': javascript(program + TEST, 'esm') }),
    jest({ transform: {}, testMatch: ['**/*.test.mjs'] }, ['--experimental-vm-modules', '--no-warnings']),
  ),
  'jest, swc': made(
    program => ({ 'app.spec.ts': program + TEST }),
    jest({ testRegex: String.raw`.*\.spec\.ts$`, transform: { [String.raw`^.+\.ts$`]: ['@swc/jest', SWC] } }),
  ),
  vitest: made(
    program => ({ 'app.test.ts': `import { expect, test } from 'vitest'\n${program}${TEST}` }),
    [bin('vitest/vitest.mjs'), 'run', '--root', '.'],
  ),
  swc: made(
    program => ({
      'app.ts': program + PRINT,
      'run.cjs': `
const { transformFileSync } = require('@swc/core')
const { code } = transformFileSync('app.ts', ${JSON.stringify({ ...SWC, module: { type: 'commonjs' } })})
require('node:fs').writeFileSync('out.cjs', code)
require('./out.cjs')`,
    }),
    ['run.cjs'],
  ),
  webpack: made(
    program => ({
      'app.mjs': javascript(program + PRINT, 'esm'),
      'run.cjs': `
const externals = Object.fromEntries(${EXTERNAL}.map(name => [name, 'commonjs ' + name]))
const output = { path: __dirname, filename: 'out.cjs' }
require('webpack')({ entry: './app.mjs', target: 'node', mode: 'development', output, externals }, (error, stats) => {
  if (error || stats.hasErrors()) throw error ?? new Error(stats.toString())
  require('./out.cjs')
})`,
    }),
    ['run.cjs'],
  ),
  'esbuild, CommonJS': esbuild('cjs'),
  'esbuild, ES modules': esbuild('esm'),
}
