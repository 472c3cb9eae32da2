import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guideResponses } from '@gatewright/reference-host/internal'
import t from 'tap'
import { startTestHost } from '../../harness/host.ts'
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
  const operate = start.slice(start.indexOf('<summary>Operate'), start.indexOf('<summary>Internals'))
  for (const path of ['clusters.html', 'upgrades.html', 'runbooks/index.html', 'runbooks/leaked-key.html'])
    t.match(operate, `href="/guide/${path}"`)
  const index = JSON.parse(readFileSync(join(folder, 'search.json'), 'utf8')) as { path: string }[]
  t.ok(index.length > 60)
  const diagrams =
    readFileSync(join(folder, 'keys-and-sessions.html'), 'utf8').match(/<svg [^]*?<\/svg>/g) ?? []
  t.equal(diagrams.length, 3, 'Mermaid is drawn at build time')
  for (const svg of diagrams)
    t.notMatch(svg, /style=|<style|<script|href=/, 'the policy of the site allows it')
  const again = await runNode(['packages/reference-host/browser/guide-site/build.js', folder])
  t.equal(again.output, '', 'nothing is built again that is built')
  for (const path of ['policies.html', 'quick-start/express.html', 'packages/kernel/index.html'])
    t.ok(index.some(each => each.path === path) && start.includes(`href="/guide/${path}"`), path)
})

t.test('deletes no folder that it has not made', async t => {
  const build = (into: string) => runNode(['packages/reference-host/browser/guide-site/build.js', into])
  const own = mkdtempSync(join(tmpdir(), 'gatewright-guide-'))
  t.teardown(() => rmSync(own, { recursive: true, force: true }))
  writeFileSync(join(own, 'thesis.txt'), 'the only copy')
  t.match(await build(own), { code: 1, output: /is not empty, and npm run guide did not make it/ })
  t.same(readdirSync(own), ['thesis.txt'])
  t.match(await build(folder), { code: 0 }, 'its own folder')
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

t.test('a host that serves the guide names its page of the code in each error', async t => {
  await runNode(['packages/reference-host/browser/guide-site/build.js'])
  const host = await startTestHost({ PUBLIC_URL: 'https://pay.example' })
  t.teardown(() => host.close())
  const response = await fetch(`${host.url}/user/v1/nothing`)
  const { docs } = (await response.json()) as { docs: string }
  t.equal(docs, 'https://pay.example/guide/errors.html#not_found')
  const page = await fetch(`${host.url}/guide/errors.html`)
  t.match(await page.text(), /id="not_found"/)
})
