import { randomBytes } from 'node:crypto'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { manualClock, race } from '@gatewright/kernel/testing'
import { accountCipher } from '#packages/reference-host/dist/modules/encryption/account-cipher.js'
import { accountKeys } from '#packages/reference-host/dist/modules/encryption/account-keys.js'
import { createSealer } from '#packages/host/dist/records/sealed.js'
import { onBothDatabases } from '../../../harness/databases/host-tables.ts'

const sealer = createSealer([{ id: 'test', secret: randomBytes(32) }])

async function addUser(db: SqlClient): Promise<void> {
  await rows(
    db,
    `insert into gw_users (id, account_id, principal, kyc_status, created_at)
      values ('usr', 'acc', '0x1', 'not_submitted', 0)`,
  )
}

/** Counts the statements that reach a database. */
function counting(db: SqlQueries): SqlQueries & { statements: number } {
  const counted = {
    dialect: db.dialect,
    statements: 0,
    query: (text: string, values?: Parameters<SqlQueries['query']>[1]) => {
      counted.statements += 1
      return db.query(text, values)
    },
  }
  return counted
}

const onBoth = (title: string, run: Parameters<typeof onBothDatabases>[1]): void =>
  onBothDatabases(title, run, addUser)

onBoth('of 40 simultaneous first uses on several hosts, all get the one key', async (t, { dbs }) => {
  const clock = manualClock()
  const hosts = Array.from({ length: 8 }, (_, n) => accountKeys(dbs[n % dbs.length]!, sealer, clock))
  const made = await race(40, n => hosts[n % hosts.length]!.findOrCreate('acc'))
  t.equal(new Set(made.map(key => key.export().toString('hex'))).size, 1)
  t.equal(made[0]?.export().length, 32)
})

onBoth('stores the key sealed, for its account only', async (t, { dbs: [db] }) => {
  const key = await accountKeys(db, sealer, manualClock()).findOrCreate('acc')
  const [row] = await rows(db, 'select data_key from gw_users')
  const stored = row?.['data_key'] as string
  t.notMatch(stored, key.export().toString('base64url'))
  t.equal(sealer.open('data key', 'acc', stored), key.export().toString('base64url'))
  t.equal(sealer.openFromClient('data key', 'bob', stored), undefined)
})

onBoth('asks the database once in 60 seconds', async (t, { dbs: [db] }) => {
  const [clock, counted] = [manualClock(), counting(db)]
  const keys = accountKeys(counted, sealer, clock)
  await keys.findOrCreate('acc')
  const made = counted.statements
  clock.advance(59_999)
  await keys.findOrCreate('acc')
  t.ok(await keys.find('acc'))
  t.equal(counted.statements, made, 'a warm key needs no statement')
  clock.advance(2)
  t.ok(await keys.find('acc'))
  t.equal(counted.statements, made + 1)
})

onBoth('decrypting makes no key, and without one nothing opens', async (t, { dbs: [db] }) => {
  const cipher = accountCipher(accountKeys(db, sealer, manualClock()))
  const value = { v: 1, iv: 'A'.repeat(16), ct: 'A'.repeat(22) }
  t.same(await cipher.decrypt('acc', [value]), [{ problem: 'undecryptable' }])
  const [row] = await rows(db, 'select data_key from gw_users')
  t.equal(row?.['data_key'], null)
})

onBoth('an erased key ends within 60 seconds; its texts open never again', async (t, { dbs: [db] }) => {
  const clock = manualClock()
  const cipher = accountCipher(accountKeys(db, sealer, clock))
  const [made] = await cipher.encrypt('acc', ['mine'])
  const value = made && 'value' in made ? made.value : undefined
  t.same(await cipher.decrypt('acc', [value]), [{ value: 'mine' }])
  await rows(db, 'update gw_users set data_key = null')
  clock.advance(60_001)
  t.same(await cipher.decrypt('acc', [value]), [{ problem: 'undecryptable' }])
  await cipher.encrypt('acc', ['again'])
  t.same(await cipher.decrypt('acc', [value]), [{ problem: 'undecryptable' }])
})

onBoth('a ring without the key of the column is a fault, not a result', async (t, { dbs: [db] }) => {
  await accountKeys(db, sealer, manualClock()).findOrCreate('acc')
  const other = accountKeys(db, createSealer([{ id: 'new', secret: randomBytes(32) }]), manualClock())
  await t.rejects(other.find('acc'), { name: 'Fault', code: 'ERR_DATA_KEY_MISSING' })
  await t.rejects(accountKeys(db, sealer, manualClock()).findOrCreate('nobody'), { code: 'ERR_STORE_REPLY' })
})
