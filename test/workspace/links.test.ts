import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { filesBelow } from '../harness/files.ts'

/** The anchors of a page: its headings, as GitHub spells them. */
const anchorsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

/** Relative links of a Markdown text whose file, or heading in it, does not exist. */
function broken(page: string, markdown: string): string[] {
  const text = markdown.replace(/^```[^]*?^```$/gm, '')
  return [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)/g)].flatMap(
    ([link, path = '', anchor]) => {
      const target = path === '' ? page : join(dirname(page), path)
      if (!existsSync(target)) return [`${page}: ${link}`]
      if (!anchor || statSync(target).isDirectory()) return []
      return anchorsOf(readFileSync(target, 'utf8')).includes(anchor.slice(1)) ? [] : [`${page}: ${link}`]
    },
  )
}

t.test('a broken link is found', async t => {
  t.same(broken('README.md', '[a](nowhere.md) [b](README.md#no-such) [c](docs) [d](https://x.test/)'), [
    'README.md: ](nowhere.md)',
    'README.md: ](README.md#no-such)',
  ])
})

t.test('every link between pages leads somewhere', async t => {
  const pages = readdirSync('.').filter(name => name.endsWith('.md'))
  for (const directory of ['packages', 'docs', 'examples']) pages.push(...filesBelow(directory, '.md'))
  t.same(
    pages.flatMap(page => broken(page, readFileSync(page, 'utf8'))),
    [],
  )
})

t.test('every link from a log or an error message to the docs leads somewhere', async t => {
  const links = filesBelow('packages', '.ts').flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/\bdocsLink\('([^']*)'\)/g)].map(([, link = '']) => link),
  )
  t.ok(links.length > 1)
  for (const link of links) {
    const [page = '', anchor = ''] = link.split('#')
    t.ok(anchorsOf(readFileSync(join('docs', page), 'utf8')).includes(anchor), link)
  }
})
