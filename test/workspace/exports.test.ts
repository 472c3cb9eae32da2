import { readFileSync } from 'node:fs'
import t from 'tap'
import { filesBelow } from '../harness/files.ts'
import { unexportedTypes } from './signatures.ts'
import { declaredNames, surfaces, type Surface } from './surface.ts'
import { packageNames } from './tree.ts'

t.test('the public surface of every package is the recorded one (npm run exports:update)', async t => {
  const recorded = JSON.parse(readFileSync('test/workspace/exports.json', 'utf8')) as Record<string, Surface>
  t.same(await surfaces(), recorded)
})

t.test('the packages export at most 612 names to users, and 250 to each other', async t => {
  // The operations of the API are names of the API, each exported by the entry of its surface.
  const entries = Object.entries(await surfaces()).filter(
    ([entry]) => !/^@gatewright\/client\/(user|partner)$/.test(entry),
  )
  const isInternal = (entry: string): boolean => /\/internal\b/.test(entry)
  const count = (given: typeof entries): number =>
    given.reduce((sum, [, { values, types }]) => sum + values.length + types.length, 0)
  // Those of users have the types of every public signature among them.
  t.ok(count(entries.filter(([entry]) => !isInternal(entry))) <= 612)
  t.ok(count(entries.filter(([entry]) => isInternal(entry))) <= 250)
})

t.test('every type in the signature of a public function is exported beside it, or by the main entry', t => {
  // The operations of the client are generated values, which nobody declares.
  for (const folder of packageNames().filter(name => name !== 'client'))
    t.same(unexportedTypes(folder), [], folder)
  t.end()
})

t.test('every kind of export is seen', async t => {
  const text = `
export { a, b as c } from './x.ts';
export type { D, E as F } from './y.ts';
export { type G, h } from './z.ts';
/** export const quoted: string */
export declare const i: number;
export declare function j(): void;
export declare function j(x: string): void;
export declare class K {}
export interface L {}
export type M = 1;
declare const hidden: 1;
export {};
`
  t.same(declaredNames(text), {
    values: ['K', 'a', 'c', 'h', 'i', 'j'],
    types: ['D', 'F', 'G', 'L', 'M'],
  })
})

t.test('an entry that exports everything of another file, or a default, is rejected', async t => {
  t.throws(() => declaredNames("export * from './x.ts';"), TypeError)
  t.throws(() => declaredNames('export default function (): void;'), TypeError)
})

t.test('every name that the main entry of a package exports stands on a page or in an example', async t => {
  const pages = [...filesBelow('docs', '.md'), ...filesBelow('examples', '.ts'), 'README.md']
  for (const folder of packageNames()) pages.push(`packages/${folder}/README.md`)
  const text = pages.map(page => readFileSync(page, 'utf8')).join('\n')
  const words = new Set(text.match(/\w+/g))
  t.notMatch(text, /from '@gatewright\/[\w-]+\/internal\b/, 'no page or example imports what is internal')
  // The other entries are for authors of adapters, modules and providers.
  for (const [entry, { values }] of Object.entries(await surfaces()))
    if (/^@gatewright\/[\w-]+$/.test(entry))
      t.same(
        values.filter(name => !words.has(name)),
        [],
        entry,
      )
})
