// What every write of the operation table makes a host keep: the largest request of each is made, and its bytes are counted.
import t from 'tap'
import { storedBytes } from '../../harness/databases/stored-bytes.ts'
import { BOUNDS } from '../../workspace/bounds.ts'
import { close, db, host } from './callers.ts'
import { LARGEST } from './largest-writes.ts'

t.teardown(close)

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
