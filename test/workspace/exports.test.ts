import { readFileSync } from 'node:fs'
import t from 'tap'
import { declaredNames, surfaces, type Surface } from './surface.ts'

t.test('the public surface of every package is the recorded one (npm run exports:update)', async t => {
  const recorded = JSON.parse(readFileSync('test/workspace/exports.json', 'utf8')) as Record<string, Surface>
  t.same(await surfaces(), recorded)
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
