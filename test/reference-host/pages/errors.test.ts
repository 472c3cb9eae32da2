import { docsLink } from '@gatewright/kernel/internal'
import { errorAdvice, ruleMeanings } from '#packages/reference-host/dist/product/errors.js'
import t from 'tap'
import { startTestHost } from '../../harness/host.ts'
import { startPageHost } from '../../harness/browser/browser.ts'

const host = await startPageHost({ ERRORS_PAGE: 'https://pay.example/errors' })
t.teardown(() => host.close())

t.test('/errors has an anchor for each code and for each rule, and no markup of sentences', async t => {
  const response = await fetch(`${host.url}/errors`)
  t.match(response.headers.get('content-security-policy'), /default-src 'none'/)
  const page = await response.text()
  const anchors = [...page.matchAll(/<dt id="([\w.]+)">/g)].map(([, id]) => id)
  const rules = Object.keys(ruleMeanings).map(rule => `policy_blocked.${rule}`)
  t.same(new Set(anchors), new Set([...Object.keys(errorAdvice), ...rules]))
  t.equal(page.match(/<pre>\{/g)?.length, anchors.length, 'each has an example')
  const links = [...page.matchAll(/<a href="#([\w.]+)">/g)].map(([, id]) => id)
  t.same(links, anchors, 'the top of the page leads to each')
  t.equal(anchors.length, new Set(anchors).size)
  const [, list = ''] = /<h2>Codes<\/h2>([^]*)<\/main>/.exec(page) ?? []
  t.notMatch(list, /`|\]\(/)
  t.match(list, `<a href="${docsLink('keys-and-sessions.md#authority')}">`)
})

t.test(
  'an error leads to its code on the page that ERRORS_PAGE names, by default that of the repository',
  async t => {
    const docsOf = async (url: string) =>
      ((await (await fetch(`${url}/user/v1/nothing`)).json()) as { docs: string }).docs
    t.equal(await docsOf(host.url), 'https://pay.example/errors#not_found')
    const plain = await startTestHost()
    t.teardown(() => plain.close())
    t.equal(await docsOf(plain.url), `${docsLink('errors.md')}#not_found`)
  },
)

t.test('/llms.txt names the addresses of this host, and only pages that it serves', async t => {
  const response = await fetch(`${host.url}/llms.txt`)
  t.match(response.headers.get('content-type'), /^text\/plain/)
  const text = await response.text()
  const own = [...text.matchAll(/\]\((\S+)\)/g)].flatMap(([, link = '']) =>
    link.startsWith(host.url) ? link : [],
  )
  t.equal(own.length, 4)
  for (const link of own) t.equal((await fetch(link)).status, 200, link)
  const without = await startTestHost({ HELPER_PAGE: 'off' })
  t.teardown(() => without.close())
  t.notMatch(await (await fetch(`${without.url}/llms.txt`)).text(), /helper/)
})
