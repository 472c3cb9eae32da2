// What every write of the operation table makes a host keep. The rows are held against real requests in `bounds.slow.ts`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@gatewright/reference-host'
import t from 'tap'
import { addsOf, BOUNDS, MAX_BYTES } from '../../workspace/bounds.ts'
import { close } from './callers.ts'
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
