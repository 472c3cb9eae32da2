import { randomBytes } from 'node:crypto'
import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { rewrapColumn } from '#packages/reference-host/dist/modules/encryption/rewrap.js'
import { createSealer } from '#packages/host/dist/records/sealed.js'
import { sealedColumns } from '#packages/reference-host/dist/product/sealed-columns.js'
import { onBothDatabases } from '../../../harness/databases/host-tables.ts'

const key = (id: string) => ({ id, secret: randomBytes(32) })
const [old, current] = [key('old'), key('new')]
const before = createSealer([old])
const ring = createSealer([current, old])
const column = sealedColumns.profile

const addUser = (db: SqlQueries, accountId: string): Promise<unknown> => {
  const text = `insert into gw_users (id, account_id, principal, kyc_status, created_at, profile)
    values ($1, $1, $1, 'pending', 1, $2)`
  return rows(db, text, [accountId, before.seal(column.purpose, accountId, 'text')])
}
const profileOf = async (db: SqlQueries, accountId: string): Promise<unknown> =>
  (await rows(db, 'select profile from gw_users where account_id = $1', [accountId]))[0]?.['profile']

onBothDatabases('reseals more rows than one batch, whatever their ids', async (t, { dbs: [db] }) => {
  const accounts = Array.from({ length: 503 }, (_, index) => `${index % 2 === 0 ? 'acc_' : 'ACC-'}${index}`)
  await db.transaction(async tx => {
    for (const accountId of accounts) await addUser(tx, accountId)
  })
  const notes: number[] = []
  const result = await rewrapColumn(db, ring, column, read => notes.push(read))
  t.match(result, { column: 'users.profile', resealed: 503, current: 0, unreadable: [] })
  t.same(notes, [500, 503])
})

onBothDatabases(
  'undoes neither a change nor an erasure that a host makes meanwhile',
  async (t, { dbs: [db] }) => {
    for (const accountId of ['acc_changed', 'acc_erased', 'acc_same']) await addUser(db, accountId)
    const changed = ring.seal(column.purpose, 'acc_changed', 'newer')
    // What the host does between the read of a batch and its writes.
    const beside = async (): Promise<void> => {
      await rows(db, 'update gw_users set profile = $1 where account_id = $2', [changed, 'acc_changed'])
      await rows(db, 'update gw_users set profile = null where account_id = $1', ['acc_erased'])
    }
    const delayed: SqlQueries = {
      dialect: db.dialect,
      async query(text, values) {
        const result = await db.query(text, values)
        if (text.startsWith('select')) await beside()
        return result
      },
    }
    const result = await rewrapColumn(delayed, ring, column, () => {})
    t.equal(result.resealed, 1)
    t.equal(await profileOf(db, 'acc_changed'), changed)
    t.equal(await profileOf(db, 'acc_erased'), null)
    t.ok(ring.isCurrent((await profileOf(db, 'acc_same')) as string))
  },
)
