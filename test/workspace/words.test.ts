import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { filesBelow } from '../harness/files.ts'

/** How many words a text has, as `wc -w` counts them. */
const words = (text: string): number => text.split(/\s+/).filter(word => word !== '').length

const read = (page: string): string => readFileSync(page, 'utf8')

t.test('all pages have fewer than 100,000 words together', async t => {
  const pages = [
    'README.md',
    ...['docs', 'examples', 'packages'].flatMap(folder => filesBelow(folder, '.md')),
  ]
  const longest = pages.map(page => [page, words(read(page))] as const).toSorted(([, a], [, b]) => b - a)
  const total = longest.reduce((sum, [, count]) => sum + count, 0)
  t.ok(total < 100_000, `${total} words; the longest: ${longest.slice(0, 10).join('; ')}`)
})

t.test('the README has at most 1,000 words', async t => {
  t.ok(words(read('README.md')) <= 1000, `${words(read('README.md'))} words`)
})

for (const name of readdirSync('docs/quick-start')) {
  t.test(`docs/quick-start/${name} has at most 500 words before its notes, and at most 6 notes`, async t => {
    const [before = '', behind = ''] = read(`docs/quick-start/${name}`).split('\n## Notes\n')
    t.ok(words(before) <= 500, `${words(before)} words`)
    const [notes = ''] = behind.split('\n## ')
    const count = notes.match(/^- /gm)?.length ?? 0
    t.ok(count > 0 && count <= 6, `${count} notes`)
  })
}
