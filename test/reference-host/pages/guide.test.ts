import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guideResponses } from '@gatewright/reference-host/internal'
import t from 'tap'
import { runNode } from '../../harness/node.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatewright-guide-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

t.test('builds every page in five groups, with a search index, and no link leads nowhere', async t => {
  const { code, output } = await runNode(['packages/reference-host/browser/guide-site/build.js', folder])
  t.equal(code, 0, output)
  const start = readFileSync(join(folder, 'index.html'), 'utf8')
  t.same(
    [...start.matchAll(/<summary>(\w+)<\/summary>/g)].map(([, title]) => title),
    ['Start', 'Guides', 'Reference', 'Operate', 'Internals'],
  )
  const index = JSON.parse(readFileSync(join(folder, 'search.json'), 'utf8')) as { path: string }[]
  t.ok(index.length > 60)
  for (const path of ['policies.html', 'quick-start/express.html', 'packages/kernel/index.html'])
    t.ok(index.some(each => each.path === path) && start.includes(`href="/guide/${path}"`), path)
})

t.test('serves the built files below /guide and nothing else, with an ETag', t => {
  const files = guideResponses(folder)
  const page = files.get('/guide/policies.html')?.(undefined)
  t.equal(page?.status, 200)
  const headers = new Map(page?.headers)
  t.match(headers.get('Content-Security-Policy'), /default-src 'none'; script-src 'self'/)
  t.equal(files.get('/guide/policies.html')?.(headers.get('ETag')).status, 304)
  t.equal(files.get('/guide'), files.get('/guide/index.html'))
  for (const path of ['/guide/nope.html', '/guide/../index.html', '/guide/images'])
    t.notOk(files.get(path), path)
  t.equal(guideResponses(join(folder, 'not-built')).size, 0)
  t.end()
})
