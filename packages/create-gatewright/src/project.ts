import { basename, resolve } from 'node:path'
import type { Choices } from './choices.ts'
import { FRAMEWORK_TEMPLATES } from './frameworks.ts'
import { providerOf } from './provider.ts'
import { readme } from './readme.ts'
import { serverFile, startFile, testFile } from './sources.ts'
import { STORE_TEMPLATES } from './stores.ts'
import { dependencies } from './versions.ts'

/** The files of a project: their texts by their paths. At most six. */
export type ProjectFiles = Readonly<Record<string, string>>

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`

/** Returns the name of the package in a folder: npm allows no upper-case letters, and no name that begins with a dot. */
function packageName(directory: string): string {
  const name = basename(resolve(directory))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-')
    .replace(/^[._-]+/, '')
  return name || 'payments-api'
}

/** Makes the files of a project from checked choices. */
export function projectFiles(choices: Choices): ProjectFiles {
  const isNext = choices.framework === 'next'
  const provider = providerOf(choices.issuer)
  const manifest = json(manifestOf(choices))
  const texts = { 'package.json': manifest, 'README.md': readme(choices, provider.scope) }
  if (isNext)
    // Six files without .gitignore, which the README says how to add.
    return {
      ...texts,
      'tsconfig.json': json({ compilerOptions: NEXT_COMPILER }),
      'src/payments.ts': serverFile(choices, provider),
      'src/payments.test.ts': testFile(choices, provider.scope),
      'src/app/api/payments/route.ts': startFile(choices),
    }
  return {
    ...texts,
    'tsconfig.json': json({
      compilerOptions: choices.framework === 'nest' ? NEST_COMPILER : COMPILER,
      include: ['src'],
    }),
    'src/app.ts': serverFile(choices, provider),
    'src/app.test.ts': testFile(choices, provider.scope),
    '.gitignore': `node_modules\ndist\n.env\n${choices.store === 'sqlite' ? 'payments.db*\n' : ''}`,
  }
}

const COMPILER = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  skipLibCheck: true,
  rewriteRelativeImportExtensions: true,
  rootDir: 'src',
  outDir: 'dist',
  types: ['node'],
}

/** Decorators are compiled: Node cannot erase them. */
const NEST_COMPILER = { ...COMPILER, experimentalDecorators: true, emitDecoratorMetadata: true }

/** As `create-next-app` makes it; Next adds the rest. */
const NEXT_COMPILER = { strict: true, allowImportingTsExtensions: true, noEmit: true }

/** Compiles the test of a project of Next, whose own compiler options are for its bundler. */
const NEXT_TEST =
  'tsc --ignoreConfig --target es2022 --module nodenext --strict --skipLibCheck --types node --rewriteRelativeImportExtensions --outDir dist src/payments.test.ts && node --test dist/payments.test.js'

function manifestOf({ directory, framework, store }: Choices): object {
  const [chosen, stored] = [FRAMEWORK_TEMPLATES[framework], STORE_TEMPLATES[store]]
  const scripts =
    framework === 'next'
      ? { dev: 'next dev', build: 'next build', start: 'next start', test: NEXT_TEST }
      : {
          build: 'tsc',
          start: 'tsc && node dist/app.js --listen',
          test: 'tsc && node --test dist/app.test.js',
        }
  return {
    name: packageName(directory),
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts,
    dependencies: dependencies(['gatewright', 'zod', ...chosen.packages, ...stored.packages]),
    devDependencies: dependencies(['typescript', '@types/node', ...chosen.types, ...stored.types]),
  }
}
