// npm run guide: makes the documentation site of `docs` and the package READMEs in dist/guide, which a host serves at /guide.
// It fails at a link inside the site that leads nowhere, and does nothing when no source has changed.
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import markdownIt from 'markdown-it'
import { diagram } from './diagram.js'
import { GROUPS } from './groups.js'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const HERE = fileURLToPath(new URL('.', import.meta.url))
const DEFAULT_OUT = join(ROOT, 'packages/reference-host/dist/guide')
const OUT = process.argv[2] ?? DEFAULT_OUT
/** This file says that the guide made the folder, and from what. Another folder that is not empty is left as it is. */
const MARK = '.gatewright-guide'
if (OUT !== DEFAULT_OUT && existsSync(OUT) && readdirSync(OUT).length > 0 && !existsSync(join(OUT, MARK))) {
  process.stderr.write(
    `${OUT} is not empty, and npm run guide did not make it: name a new or an empty folder\n`,
  )
  process.exit(1)
}
/** The colours and sizes of the host's pages. */
const TOKENS = 'packages/reference-host/browser/shared/tokens.css'
const SOURCE = 'https://github.com/gatewright/gatewright/blob/main/'

const markdownFiles = folder =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `${folder}/${name}`)
const sources = [
  ...markdownFiles('docs'),
  ...readdirSync(join(ROOT, 'packages')).map(name => `packages/${name}/README.md`),
].filter(file => existsSync(join(ROOT, file)))

/** A digest of all that the site depends on. */
function inputs() {
  const besides = ['docs/images', 'packages/reference-host/browser/guide-site'].flatMap(folder =>
    readdirSync(join(ROOT, folder)).map(name => `${folder}/${name}`),
  )
  const hash = createHash('sha256')
  for (const file of [...sources, ...besides, TOKENS, 'package-lock.json'])
    hash.update(`${file}\n`).update(readFileSync(join(ROOT, file)))
  return hash.digest('base64url')
}

const now = inputs()
if (existsSync(join(OUT, MARK)) && readFileSync(join(OUT, MARK), 'utf8') === now) process.exit(0)

/** The path of a page below /guide: `docs/run.md` is `run.html`. */
const pathOf = file =>
  file
    .replace(/^docs\//, '')
    .replace(/README\.md$/, 'index.md')
    .replace(/\.md$/, '.html')
const escaped = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
/** The id of a heading, as GitHub makes it. */
const slugOf = text =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

/** @returns {{ file: string, hash: string }[]} */
const noLinks = () => []

/** Renders a page: its title, HTML, plain text, ids of headings, and links inside the site. */
function render(file) {
  const markdown = markdownIt({ html: true, linkify: false })
  const { fence } = markdown.renderer.rules
  markdown.renderer.rules.fence = (tokens, at, ...rest) =>
    tokens[at].info === 'mermaid' ? diagram(tokens[at].content) : fence(tokens, at, ...rest)
  const page = { file, path: pathOf(file), title: file, html: '', text: '', ids: new Set(), links: noLinks() }
  const tokens = markdown.parse(readFileSync(join(ROOT, file), 'utf8'), {})
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const text = tokens[index + 1].children.map(each => each.content).join('')
      const slug = slugOf(text)
      let id = slug
      for (let number = 1; page.ids.has(id); number++) id = `${slug}-${number}`
      page.ids.add(id)
      token.attrSet('id', id)
      if (token.tag === 'h1' && page.title === file) page.title = text
    }
    // An empty header cell, as of the first column of a matrix, heads nothing.
    if (token.type === 'th_open' && tokens[index + 1].content === '')
      for (const each of [token, tokens[index + 2]]) each.tag = 'td'
    for (const child of token.children ?? []) {
      if (child.type === 'link_open') child.attrSet('href', linkOf(page, child.attrGet('href')))
      if (child.type === 'image') child.attrSet('src', imageOf(page, child.attrGet('src')))
    }
    page.text += token.type === 'inline' ? `${token.content} ` : ''
  }
  page.html = markdown.renderer.render(tokens, markdown.options, {})
  return page
}

function linkOf(page, href) {
  if (/^(?:[a-z]+:|\/)/.test(href)) return href
  const [path, hash] = href.split('#')
  const target = path === '' ? page.file : normalize(join(dirname(page.file), path)).replace(/\/$/, '')
  const file = [target, `${target}/README.md`].find(each => sources.includes(each))
  if (file === undefined) return `${SOURCE}${target}${hash ? `#${hash}` : ''}`
  page.links.push({ file, hash })
  return `/guide/${pathOf(file)}${hash ? `#${hash}` : ''}`
}

function imageOf(page, src) {
  if (/^[a-z]+:/.test(src)) return src
  return `/guide/images/${normalize(join(dirname(page.file), src)).replace(/^docs\/images\//, '')}`
}

const pages = sources.map(render)
const byFile = new Map(pages.map(page => [page.file, page]))
const broken = pages.flatMap(page =>
  page.links
    .filter(
      ({ file, hash }) =>
        hash && !byFile.get(file).ids.has(hash) && !byFile.get(file).html.includes(`name="${hash}"`),
    )
    .map(({ file, hash }) => `${page.file}: ${file}#${hash}`),
)
if (broken.length > 0) throw new Error(`links that lead nowhere:\n${broken.join('\n')}`)

/** The pages of each group in their order. Pages that no group names are in the last one. */
const named = new Set(Object.values(GROUPS).flat())
const groups = Object.entries(GROUPS).map(([title, files], index) => {
  const rest =
    index === Object.keys(GROUPS).length - 1
      ? sources.filter(file => !named.has(file)).toSorted((a, b) => a.localeCompare(b))
      : []
  return { title, pages: [...files, ...rest].flatMap(file => byFile.get(file) ?? []) }
})
const order = groups.flatMap(group => group.pages)

function navigation(current) {
  return groups
    .map(({ title, pages }) => {
      const items = pages.map(page => {
        const here = page === current ? ' aria-current="page"' : ''
        return `<li><a href="/guide/${page.path}"${here}>${escaped(page.title)}</a></li>`
      })
      return `<details${pages.includes(current) ? ' open' : ''}><summary>${title}</summary><ul>${items.join('')}</ul></details>`
    })
    .join('')
}

function documentOf(page) {
  const at = order.indexOf(page)
  const neighbour = (other, label) =>
    other ? `<a href="/guide/${other.path}">${label}: ${escaped(other.title)}</a>` : '<span></span>'
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.title)} · Gatewright</title><link rel="stylesheet" href="/guide/site.css"><script src="/guide/site.js" defer></script></head>
<body><header><a href="/guide">Gatewright guide</a>
<div class="host-links" role="navigation" aria-label="Host"><a href="/">Home</a><a href="/helper" hidden>Console</a><a href="/docs" hidden>API</a><a href="/guide" aria-current="true">Docs</a></div>
<search><input type="search" aria-label="Search the guide" placeholder="Search" autocomplete="off"><ol hidden></ol></search></header>
<div class="columns"><nav aria-label="Pages"><details open><summary class="menu">Pages</summary>${navigation(page)}</details></nav><main>${page.html}
<footer>${neighbour(order[at - 1], 'Previous')}${neighbour(order[at + 1], 'Next')}</footer></main></div></body></html>
`
}

// Written beside and then moved: a host that starts meanwhile finds the old site or the new one.
const folder = `${OUT}-${process.pid}`
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, MARK), now)
for (const page of pages) {
  const file = join(folder, page.path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, documentOf(page))
}
const index = order.map(({ path, title, text }) => ({
  path,
  title,
  text: text.replaceAll(/[`*|]|\]\([^)]*\)/g, ''),
}))
writeFileSync(join(folder, 'search.json'), JSON.stringify(index))
cpSync(join(ROOT, 'docs/images'), join(folder, 'images'), { recursive: true })
writeFileSync(
  join(folder, 'site.css'),
  [join(ROOT, TOKENS), join(HERE, 'site.css')].map(file => readFileSync(file, 'utf8')).join(''),
)
cpSync(join(HERE, 'site.js'), join(folder, 'site.js'))
rmSync(OUT, { recursive: true, force: true })
renameSync(folder, OUT)
process.stdout.write(`${pages.length} pages in ${OUT}\n`)
