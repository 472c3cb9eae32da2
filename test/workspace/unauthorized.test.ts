import { readFileSync } from 'node:fs'
import { reasons } from '@gatewright/scope-guard'
import t from 'tap'
import { reasonSections } from './unauthorized.ts'

t.test('docs/401.md says the cause of every reason, and what to do', async t => {
  const page = readFileSync('docs/401.md', 'utf8')
  const sections = reasonSections(reasons)
  t.equal(sections.length, reasons.length)
  for (const section of sections) {
    t.ok(page.includes(`\n${section}\n`), section)
    t.notMatch(section, 'undefined')
  }
})

t.test('a reason without a way on fails by its name, and so does a way on of no reason', async t => {
  t.throws(
    () => reasonSections(['no kid'], {}),
    /say what to do in test\/workspace\/unauthorized\.ts: no kid/,
  )
  t.throws(() => reasonSections(['no kid'], { 'no kid': '' }), /say what to do .*: no kid/)
  t.throws(() => reasonSections([], { 'no kid': 'A.' }), /gives no such reason: no kid/)
})
