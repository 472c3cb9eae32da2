import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { filesBelow } from '../harness/files.ts'

const MOST = 200

/** The rows of tables of a Markdown text that are longer than `MOST` characters, with their lines. Code fences are skipped. */
function longRows(page: string, markdown: string): string[] {
  const text = markdown.replace(/^```[^]*?^```$/gm, fence => fence.replaceAll(/[^\n]/g, ''))
  return text
    .split('\n')
    .flatMap((line, at) =>
      line.startsWith('|') && line.length > MOST ? [`${page}:${at + 1} has ${line.length} characters`] : [],
    )
}

t.test('a row of more than 200 characters is found, outside code fences', async t => {
  const [longest, long] = [198, 199].map(length => `|${'x'.repeat(length)}|`)
  t.same(longRows('a.md', `| A |\n|---|\n${longest}\n`), [])
  t.same(longRows('a.md', `| A |\n|---|\n${long}\n`), ['a.md:3 has 201 characters'])
  t.same(longRows('a.md', `\`\`\`\n${long}\n\`\`\`\n`), [])
})

t.test('no page has a table row of more than 200 characters', async t => {
  const pages = readdirSync('.').filter(name => name.endsWith('.md'))
  for (const directory of ['packages', 'docs', 'examples']) pages.push(...filesBelow(directory, '.md'))
  t.ok(pages.includes('docs/threat-model.md') && pages.includes('packages/http/README.md'))
  t.same(
    pages.flatMap(page => longRows(page, readFileSync(page, 'utf8'))),
    [],
  )
})
