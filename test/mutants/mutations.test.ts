import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { keepsOrder } from './equivalents.ts'
import { mutationsOf } from './mutations.ts'
import { temporaryFolder } from '../harness/files.ts'

const directory = temporaryFolder(t)

/** The lines that mutations make of a line of code. */
function changesOf(code: string): string[] {
  const file = join(directory, 'module.js')
  writeFileSync(file, code)
  writeFileSync(`${file}.map`, JSON.stringify({ version: 3, sources: [], names: [], mappings: '' }))
  return mutationsOf(file).map(({ after }) => after)
}

t.test('moves and turns each comparison', async t => {
  t.same(changesOf('x = a < b'), ['x = a <= b', 'x = a >= b'])
  t.same(changesOf('x = a >= b'), ['x = a > b', 'x = a < b'])
  t.same(changesOf('x = a === b'), ['x = a !== b'])
})

t.test('swaps logic, arithmetic and the branches of a condition', async t => {
  t.same(changesOf('x = a && b'), ['x = a || b'])
  t.same(changesOf('x = a - b'), ['x = a + b'])
  t.same(changesOf('x += y'), ['x -= y'])
  t.same(changesOf('x = !a'), ['x = a'])
  t.same(changesOf('x = a ? b : c'), ['x = (a) ? c : b'])
  t.same(changesOf('if (a) b = c'), ['if (!(a)) b = c'])
})

t.test('makes no second mutation of what another one negates', async t => {
  t.same(changesOf('if (a < b) c = d'), ['if (a <= b) c = d', 'if (a >= b) c = d'])
  t.same(changesOf('x = !a ? b : c'), ['x = a ? b : c'])
})

t.test('moves numbers, turns booleans, and leaves texts alone', async t => {
  t.same(changesOf('x = 7'), ['x = 8'])
  t.same(changesOf('x = 7n'), ['x = 8n'])
  t.same(changesOf('x = true'), ['x = false'])
  t.same(changesOf("x = 'a < b' + y"), [])
})

t.test('leaves a table of option names alone, in which only the names decide', async t => {
  t.same(changesOf('const OPTIONS = { prefix: true, ...LIMITS }'), [])
  t.same(changesOf('const OPTIONS = { prefix: true, size: 1 }').length, 2)
  t.same(changesOf('f({ fixed: true })'), [';', 'f({ fixed: false })'])
})

t.test('leaves what the compiler adds alone', async t => {
  t.same(changesOf('var __helper = (this && this.__helper) || f'), [])
})

t.test('removes calls and awaits', async t => {
  t.same(changesOf('f(x)'), [';'])
  t.same(changesOf('await f(x)'), [';', 'f(x)'])
  t.same(changesOf('x = await f'), ['x = f'])
})

t.test('swaps least and most, some and every', async t => {
  t.same(changesOf('x = Math.max(a, b)'), ['x = Math.min(a, b)'])
  t.same(changesOf('x = all.some(f)'), ['x = all.every(f)'])
  t.same(changesOf('x = one.toString()'), [])
})

t.test('changes comparisons and the order of SQL, but not the columns that it sets', async t => {
  t.same(changesOf('q = `select a from b where c <= ${d} order by e desc`'), [
    'q = `select a from b where c < ${d} order by e desc`',
    'q = `select a from b where c <= ${d} order by e asc`',
  ])
  t.same(changesOf("q = 'update a set b = c where d = e'"), ["q = 'update a set b = c where d <> e'"])
  t.same(changesOf("q = 'create table a (b integer check (b > 0))'"), [], 'DDL is left alone')
})

t.test('changes comparisons of Lua', async t => {
  t.same(changesOf("q = `if redis.call('GET', KEYS[1]) == ARGV[1] then return 1 end`"), [
    "q = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 1 end`",
  ])
})

t.test('leaves comments of SQL and Lua alone', async t => {
  t.same(changesOf("q = `if x then -- this is not it\nredis.call('DEL', KEYS[1]) end`"), [])
  t.same(changesOf('q = `select a -- b and c\nfrom d`'), [])
})

t.test(
  'a comparator that differs for equal items alone is equivalent, one that turns the order is not',
  async t => {
    const before = 'ids.sort((a, b) => (a < b ? -1 : 1))'
    t.ok(keepsOrder(before, 'ids.sort((a, b) => (a <= b ? -1 : 1))'))
    t.ok(keepsOrder(before, 'ids.sort((a, b) => (a < b ? -1 : 2))'))
    t.notOk(keepsOrder(before, 'ids.sort((a, b) => (a >= b ? -1 : 1))'))
  },
)
