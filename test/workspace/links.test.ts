import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { filesBelow } from '../harness/files.ts'
import { packageNames } from './tree.ts'

/** The anchors of a page: its headings, as GitHub spells them. */
const anchorsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

const REPOSITORY = 'https://github.com/gatewright/gatewright/'

/** The file that a link leads to, from the root of the repository; undefined for one outside of the repository. */
function targetOf(page: string, path: string): string | undefined {
  if (path === '') return page
  if (path.startsWith(REPOSITORY)) return path.slice(REPOSITORY.length).replace(/^(?:blob|tree)\/main\//, '')
  return /^\w+:/.test(path) ? undefined : join(dirname(page), path)
}

/** Links of a Markdown text into the repository whose file, or heading in it, does not exist. */
function broken(page: string, markdown: string): string[] {
  const text = markdown.replace(/^```[^]*?^```$/gm, '')
  return [...text.matchAll(/\]\(([^)#\s]*)(#[^)\s]*)?\)/g)].flatMap(([link, path = '', anchor]) => {
    const target = targetOf(page, path)
    if (target === undefined || anchor === '#readme') return []
    if (!existsSync(target)) return [`${page}: ${link}`]
    if (!anchor || statSync(target).isDirectory()) return []
    return anchorsOf(readFileSync(target, 'utf8')).includes(anchor.slice(1)) ? [] : [`${page}: ${link}`]
  })
}

t.test('a broken link is found', async t => {
  t.same(broken('README.md', '[a](nowhere.md) [b](README.md#no-such) [c](docs) [d](https://x.test/)'), [
    'README.md: ](nowhere.md)',
    'README.md: ](README.md#no-such)',
  ])
})

t.test(
  'a package README links only to what an installed package has, or to pages of the repository',
  async t => {
    for (const name of packageNames()) {
      const folder = `packages/${name}`
      const { files } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as { files: string[] }
      const text = readFileSync(`${folder}/README.md`, 'utf8').replace(/^```[^]*?^```$/gm, '')
      const links = [...text.matchAll(/\]\(([^)#\s]+)/g)].map(([, path = '']) => path)
      const inTarball = (path: string): boolean =>
        files.some(file => path === file || path.startsWith(`${file}/`))
      t.same(
        links.filter(path => !path.startsWith('https:') && !inTarball(path)),
        [],
        name,
      )
    }
  },
)

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
    const text = readFileSync(join('docs', page), 'utf8')
    t.ok(anchor === '' || anchorsOf(text).includes(anchor), link)
  }
})
