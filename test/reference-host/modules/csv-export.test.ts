import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { StreamedBody } from '@gatewright/http/internal'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import * as internals from '../../harness/internals.ts'

/** An export of a list in which nothing ever matches: each page is empty, and not the last. */
function endlessExport(onPage: (pages: number) => void) {
  let pages = 0
  const exported = internals.csvExport(
    { clock: manualClock(), report: error => t.fail(String(error)) },
    {
      id: 'things.export',
      title: 'Export things',
      path: '/user/v1/things.csv',
      scopes: [],
      filters: {},
      columns: { id: () => 'x' },
      async page() {
        onPage(++pages)
        return { rows: [], next: { at: 1, position: 1 } }
      },
    },
  )
  const start = async () => {
    const call = { caller: { session: { accountId: 'ann' } }, query: {} }
    const { handle } = exported as unknown as {
      handle(call: object): Promise<{ ok: boolean; value: { document: StreamedBody } }>
    }
    return handle(call)
  }
  return { start, pages: () => pages }
}

t.test('an export without matches ends soon after its client has gone', async t => {
  const client = new PassThrough()
  const { start, pages } = endlessExport(count => {
    if (count === 5) client.destroy()
    if (count === 50) t.fail('reads on')
  })
  const { value } = await start()
  await t.rejects(pipeline(value.document.chunks, client))
  t.ok(pages() <= 7, `${pages()} pages`)
  t.equal((await start()).ok, true, 'and is no longer counted')
})

t.test('counts an export from its request on, until its file has ended or was discarded', async t => {
  const { start } = endlessExport(() => {})
  const files = [await start(), await start()]
  t.match(await start(), { ok: false, code: 'rate_limited' })
  for (const { value } of files) {
    const iterator = value.document.chunks[Symbol.asyncIterator]()
    await iterator.return?.()
    await iterator.return?.()
    t.equal((await start()).ok, true)
    t.match(await start(), { ok: false, code: 'rate_limited' }, 'each gives back one place, once')
  }
})
