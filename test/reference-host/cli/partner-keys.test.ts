import { rows } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import { runCommand } from '@gatewright/reference-host'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright as runGatewright, jsonOf, type Ran } from '../../harness/gatewright.ts'
import { bootstrapUser, startTestHost } from '../../harness/host.ts'
import { temporaryFolder } from '../../harness/files.ts'

const dataDir = temporaryFolder(t)
const env = { DATA_DIR: dataDir, PORT: '0' }
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, env)
const json = async (...args: string[]): Promise<Record<string, unknown>[]> =>
  jsonOf(await gatewright(...args, '--json'))
const create = async (...args: string[]): Promise<string> => {
  const { keyId } = (await json('partner-keys', 'create', ...args)) as unknown as { keyId: string }
  return keyId
}
const stateOf = async (keyId: string): Promise<unknown> =>
  (await json('partner-keys', 'list')).find(key => key['keyId'] === keyId)?.['state']

t.test('rotates only with an overlap in plain digits, and none only after it asked', async t => {
  const keyId = await create('Acme')
  for (const overlap of ['', ' ', '-1', '1e3', '0x10', '60s', '1.5', '+5', 'Infinity']) {
    t.match(await gatewright('partner-keys', 'rotate', keyId, `--overlap=${overlap}`, '--yes'), {
      code: 2,
      output: `--overlap must be an integer of at least 0, got ${JSON.stringify(overlap)}`,
    })
  }
  t.match(await gatewright('partner-keys', 'rotate', keyId, '--overlap', '99999999'), {
    code: 1,
    output: /overlapSeconds must be an integer from 0 to/,
  })
  t.match(await gatewright('partner-keys', 'rotate', keyId, '--overlap', '0'), {
    code: 2,
    output: /needs --yes without a terminal. With --overlap 0 the old key stops working at once/,
  })
  t.equal(await stateOf(keyId), 'live')
  t.match(await gatewright('partner-keys', 'rotate', keyId, '--overlap', '60'), { code: 0 })
  t.equal(await stateOf(keyId), 'live')
  t.match(await gatewright('partner-keys', 'rotate', keyId, '--overlap', '0', '--yes'), { code: 0 })
  t.equal(await stateOf(keyId), 'revoked')
})

t.test('lists a key whose overlap is over as expired', async t => {
  const keyId = await create('Acme')
  await gatewright('partner-keys', 'rotate', keyId, '--overlap', '60')
  const { db, close } = openDatabaseOf(env)
  const [row] = await rows(db, 'select record from gw_keys where id = $1', [keyId])
  const record = { ...(JSON.parse(toText(row?.['record'])) as object), expiresAt: Date.now() }
  await rows(db, 'update gw_keys set record = $1 where id = $2', [JSON.stringify(record), keyId])
  await close()
  t.equal(await stateOf(keyId), 'expired')
  t.match(await gatewright('partner-keys', 'list'), { output: new RegExp(`${keyId} .* expired$`, 'm') })
})

t.test('refuses a policy that is not an object, and says which policy the key has', async t => {
  for (const policy of ['null', '[]', '5', '"x"', '{', ''])
    t.match(await gatewright('partner-keys', 'create', 'Acme', '--policy', policy), {
      code: 2,
      output: `--policy must be a policy object as JSON, got ${JSON.stringify(policy)}`,
    })
  t.match(await gatewright('partner-keys', 'create', 'Acme', '--policy', '{"no":1}'), {
    code: 1,
    output: /no is not a known member/,
  })
  const policy = '{"maxAuthAmountCents":100}'
  t.match(await gatewright('partner-keys', 'create', 'Acme', '--policy', policy), {
    code: 0,
    output: /^ {2}policy {2}{"maxAuthAmountCents":100}$/m,
  })
  t.match(await json('partner-keys', 'create', 'Acme', '--policy', policy), {
    policy: { maxAuthAmountCents: 100 },
  })
  t.match(await gatewright('partner-keys', 'create', 'Acme'), {
    code: 0,
    output: /^ {2}policy {2}no policy$/m,
  })
  t.match(await json('partner-keys', 'create', 'Acme'), { policy: null })
})

t.test('takes a name of 1 to 120 characters', async t => {
  for (const name of ['', ' ', 'a'.repeat(121)])
    t.match(await gatewright('partner-keys', 'create', name), {
      code: 2,
      output: /^NAME must be 1 to 120 characters/,
    })
  t.match(await gatewright('partner-keys', 'create', '😀'.repeat(120)), { code: 0 })
})

t.test('takes no key of a user, and no key that is not stored', async t => {
  const host = await startTestHost({ DATA_DIR: dataDir, DATABASE_URL: '' })
  const user = await bootstrapUser(host.send)
  await host.close()
  const [key] = await json('keys', 'list', user.userId)
  const keyId = String(key?.['id'])
  for (const verb of ['rotate', 'revoke', 'validate'])
    for (const id of [keyId, 'nope'])
      t.match(await gatewright('partner-keys', verb, id, '--yes'), {
        code: 1,
        output: `no partner key ${id}`,
      })
  t.match(await json('keys', 'list', user.userId), [{ id: keyId, state: 'live' }])
})

t.test('ends with 1 when the operator says no, and prints nothing as data', async t => {
  const keyId = await create('Acme')
  const json = JSON.stringify({ error: 'canceled', message: 'Canceled.' }, null, 2)
  for (const [args, problem] of [
    [[], 'Canceled.'],
    [['--json'], json],
  ] as const) {
    const responded = runCommand(['partner-keys', 'revoke', keyId, ...args], { env, ask: async () => 'n' })
    t.same(await responded, { code: 1, out: '', problem })
  }
  t.equal(await stateOf(keyId), 'live')
})
