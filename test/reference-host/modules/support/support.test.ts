import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, bootstrapUser, openTestHost } from '../../../harness/host.ts'

const clock = manualClock(Date.now())
const at = (offsetMs: number): string => new Date(clock.now() + offsetMs).toISOString()
const notice = (id: string, startsAt: string, endsAt: string, url: string | null = null) => ({
  id,
  title: `Notice ${id}`,
  text: 'Plain text.',
  url,
  startsAt,
  endsAt,
})
const spotlight = [
  notice('later', at(60_000), at(120_000)),
  notice('ending', at(-60_000), at(60_000), 'https://example.com/notice'),
  notice('over', at(-60_000), at(0)),
  notice('starting', at(0), at(180_000)),
]
const support = {
  email: 'help@example.com',
  url: null,
  statusUrl: 'https://status.example.com',
  hours: 'Always',
}

const folder = mkdtempSync(join(tmpdir(), 'gatewright-product-'))
const PRODUCT_FILE = join(folder, 'product.json')
writeFileSync(PRODUCT_FILE, JSON.stringify({ support, spotlight, agreements: [] }))
const host = await openTestHost(t, { PRODUCT_FILE }, clock)
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const { token } = await bootstrapUser(host.send, {}, clock.now())

t.test('support returns what the product file says, and what to quote', async t => {
  const { status, body } = await host.send('/user/v1/support', { headers: bearer(token) })
  t.equal(status, 200)
  t.same(body.data['support'], support)
  t.match(body.data, { environment: 'sandbox', version: /^\d+\.\d+\.\d+$/, accountId: /^acc_/ })
})

t.test('spotlight shows a notice from its start until its end, in the order of the file', async t => {
  const shown = async (): Promise<string[]> => {
    const { body } = await host.send('/user/v1/spotlight', { headers: bearer(token) })
    return (body.data['items'] as { id: string }[]).map(({ id }) => id)
  }
  t.same(await shown(), ['ending', 'starting'])
  clock.advance(59_999)
  t.same(await shown(), ['ending', 'starting'])
  clock.advance(1)
  t.same(await shown(), ['later', 'starting'])
  const { body } = await host.send('/user/v1/spotlight', { headers: bearer(token) })
  t.same((body.data['items'] as unknown[])[0], spotlight[0])
  clock.advance(120_000)
  t.same(await shown(), [])
  t.same(host.failures, [])
})
