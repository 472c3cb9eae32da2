import t from 'tap'
import { importsOf, packageOf } from './imports.ts'
import { violations, type Package } from './rules.ts'
import { readPackages } from './tree.ts'

t.test('the tree keeps the rules', async t => {
  const packages = readPackages()
  t.ok(packages.length >= 8, 'the packages were found')
  t.ok(packages.flatMap(each => each.sources).length > 20, 'their sources were found')
  t.same(violations(packages), [])
})

t.test('every kind of import is seen, and no quoted one', async t => {
  const text = `
import a, { b as c } from 'one'
import type { D } from "two/sub"
import {
  type E,
  type F,
} from '@three/name/sub'
import { type G, h } from './four.ts'
import 'five'
export * from 'six'
export * as seven from 'seven'
export { i } from './eight.ts'
export type { J } from './nine.ts'
const later = () => import('ten')
/** Use it as \`import x from 'quoted'\`:
import y from 'quoted-too'
*/
// import z from 'quoted-three'
export const notOne = "from 'nowhere'"
`
  const types = ['two/sub', '@three/name/sub', './nine.ts']
  const values = ['one', './four.ts', 'six', 'seven', './eight.ts', 'five', 'ten']
  const found = importsOf(text)
  t.same(
    found.filter(each => each.typeOnly).map(each => each.specifier),
    types,
  )
  t.same(
    found.filter(each => !each.typeOnly).map(each => each.specifier),
    values,
  )
})

t.test('a specifier gives its package', async t => {
  t.equal(packageOf('@gatewright/kernel/sql'), '@gatewright/kernel')
  t.equal(packageOf('viem/utils'), 'viem')
  t.equal(packageOf('node:fs'), undefined)
  t.equal(packageOf('./port.ts'), undefined)
})

/** A package with one file, which declares what it imports. */
function one(name: string, path: string, text: string): Package {
  const declared = importsOf(text).map(found => packageOf(found.specifier))
  const dependencies = [...new Set(declared.filter(each => each !== undefined))]
  return { name, dependencies, sources: [{ path: `packages/${name}/src/${path}`, text }] }
}

const bad: Record<string, [Package, RegExp]> = {
  'one of the five imports another': [
    one('scope-guard', 'guard.ts', "import type { Issuer } from '@gatewright/session-issuer'"),
    /scope-guard must not import @gatewright\/session-issuer/,
  ],
  'kernel imports a package': [
    one('kernel', 'index.ts', "export { koa } from '@gatewright/http/koa'"),
    /kernel must not import/,
  ],
  'http imports one of the five': [
    one('http', 'koa.ts', "const load = () => import('@gatewright/scope-guard')"),
    /http must not import/,
  ],
  'the composition package imports the host': [
    one('gatewright', 'express.ts', "import { runHost } from '@gatewright/host'"),
    /gatewright must not import/,
  ],
  'a package imports the composition package': [
    one('host', 'http/app.ts', "import { gatewright } from 'gatewright/koa'"),
    /no package imports gatewright/,
  ],
  'a backend imports deciding code': [
    one('session-issuer', 'storage/redis.ts', "import { keyText } from '../key-text.ts'"),
    /a backend must not import \.\.\/key-text\.ts/,
  ],
  'a backend imports another backend': [
    one('session-issuer', 'storage/redis.ts', "import { memoryCredentials } from './memory.ts'"),
    /a backend must not import another/,
  ],
  'deciding code imports a backend': [
    one('session-issuer', 'issue.ts', "import { memoryCredentials } from './storage/memory.ts'"),
    /deciding code takes only types/,
  ],
  'the index loads a backend': [
    one('session-issuer', 'index.ts', "export { memoryCredentials } from './storage/memory.ts'"),
    /deciding code takes only types/,
  ],
  'the entry for other packages loads a backend': [
    one('session-issuer', 'internal.ts', "export { redisCredentials } from './storage/redis.ts'"),
    /deciding code takes only types/,
  ],
  'deciding code imports the options of an adapter': [
    one('scope-guard', 'guard.ts', "import type { EscrowOptions } from './storage/options.ts'"),
    /deciding code takes only types/,
  ],
  'deciding code imports a value of the port': [
    one('session-issuer', 'keys/create.ts', "import { LIMIT } from '../storage/port.ts'"),
    /deciding code takes only types/,
  ],
  'the configuration of the host imports its HTTP layer': [
    one('host', 'config/x.ts', "import type { App } from '../http/app.ts'"),
    /in a layer above/,
  ],
  'a module of the host imports a file of its root': [
    one('reference-host', 'modules/cards/x.ts', "import { serve } from '../../serve.ts'"),
    /in a layer above/,
  ],
  'the host has a folder without a place': [
    one('reference-host', 'helpers/x.ts', "import { y } from './y.ts'"),
    /no place among the layers/,
  ],
  'typedi leaves its file': [
    one('reference-host', 'app.ts', "import { Token } from 'typedi'"),
    /typedi belongs to/,
  ],
  'an import is not declared': [
    { ...one('kernel', 'x.ts', "import { hash } from 'blake3/browser'"), dependencies: [] },
    /blake3 is imported but not declared/,
  ],
  'a builtin is imported without node:': [
    { ...one('kernel', 'x.ts', "import { hash } from 'crypto'"), dependencies: [] },
    /crypto is imported but not declared/,
  ],
  'a declared dependency is not imported': [
    { ...one('kernel', 'x.ts', 'export {}'), dependencies: ['left-pad'] },
    /left-pad is declared but not imported/,
  ],
}

for (const [title, [given, expected]] of Object.entries(bad)) {
  t.test(`it is caught when ${title}`, async t => {
    const found = violations([given])
    t.equal(found.length, 1, found.join('\n'))
    t.match(found[0], expected)
  })
}

t.test('what design allows is not caught', async t => {
  const allowed = [
    one('scope-guard', 'guard.ts', "import type { SpendStorage } from './storage/port.ts'"),
    one('session-issuer', 'index.ts', "export { staticKeys } from './storage/static.ts'"),
    one('scope-guard', 'internal.ts', "export type { EscrowOptions } from './storage/options.ts'"),
    one('scope-guard', 'testing.ts', "import { memorySpends } from './storage/memory.ts'"),
    one('scope-guard', 'storage/redis.ts', "import type { SpendStorage } from './port.ts'"),
    one('scope-guard', 'storage/sqlite.ts', "import { RESERVE } from './statements.ts'"),
    one('scope-guard', 'storage/postgres.ts', "import { rows } from '@gatewright/kernel/sql'"),
    one('gatewright', 'compose.ts', "import { createGuard } from '@gatewright/scope-guard'"),
    one('host', 'composition/make-services.ts', "import { Token } from 'typedi'"),
    one('reference-host', 'app.ts', "import { createGuard } from '@gatewright/scope-guard'"),
  ]
  t.same(violations(allowed), [])
})
