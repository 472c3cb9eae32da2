// What every write of the operation table makes a host keep: the largest request of each is made, and its bytes are counted.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@gatewright/reference-host/internal'
import t from 'tap'
import { storedBytes } from '../../harness/stored-bytes.ts'
import { addsOf, BOUNDS, MAX_BYTES } from '../../workspace/bounds.ts'
import { close, db, host } from './callers.ts'
import { LARGEST } from './largest-writes.ts'

t.teardown(close)

/** Every write of the operation table, by surface and id. */
async function writes(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-bounds-'))
  const { out } = await runCommand(['operations', '--json'], { env: { DATA_DIR: folder }, ask: undefined })
  rmSync(folder, { recursive: true, force: true })
  const table = JSON.parse(out) as { id: string; surface: string; method: string }[]
  return table.filter(({ method }) => method !== 'GET').map(({ id, surface }) => `${surface} ${id}`)
}

t.test('every write of the operation table has a row, and every row is of a write', async t => {
  t.same(Object.keys(BOUNDS).toSorted(), (await writes()).toSorted())
  const trusted = Object.keys(BOUNDS).filter(name => BOUNDS[name]?.limit === 'provider')
  t.same([...Object.keys(LARGEST), ...trusted].toSorted(), Object.keys(BOUNDS).toSorted())
})

t.test('no write adds 20 MB or more for one account in 10 minutes at its rate limit', async t => {
  for (const [name, bound] of Object.entries(BOUNDS)) {
    const adds = addsOf(bound)
    if (adds !== undefined) t.ok(adds < MAX_BYTES, `${name} adds ${adds} bytes`)
  }
})

for (const [name, prepare] of Object.entries(LARGEST))
  t.test(`the largest request adds no more bytes than its row says: ${name}`, async t => {
    const added: number[] = []
    // Of two, since the first one may also add what is added once.
    for (let n = 0; n < 2; n += 1) {
      const request = await prepare()
      const before = await storedBytes(db)
      const { status, body } = await request()
      t.ok(status <= 202, `${status} ${JSON.stringify(body).slice(0, 300)}`)
      added.push((await storedBytes(db)) - before)
    }
    const bytes = BOUNDS[name]?.bytes ?? 0
    const least = Math.max(0, ...added.slice(1))
    t.comment(`${name} ${added.join(' ')}`)
    t.ok(least <= bytes, `${least} bytes, the row says ${bytes}`)
    t.ok(bytes <= 1.5 * least + 300, `the row is not larger than needed: ${bytes} for ${least}`)
  })

t.test('no request failed', async t => t.same(host.failures, []))
