// What an operator and an owner read of keys and requests on a terminal of 80 columns.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '@gatewright/reference-host'
import t from 'tap'
import { bearer, bootstrapUser, startTestHost, sessionOf } from '../../harness/host.ts'
import { cardUser } from '../harness/card-payments.ts'
import { moneyUser } from '../harness/money.ts'
import { temporaryFolder } from '../../harness/files.ts'

const folder = temporaryFolder(t)
const env = { DATA_DIR: join(folder, 'data'), PORT: '0', XDG_CONFIG_HOME: folder }
const terminal = { width: 80, colors: false }

/** Runs a command on a terminal of 80 columns, whose person says no. Returns what it printed, and what it asked. */
async function read(...args: string[]): Promise<{ readonly out: string; readonly asked: string }> {
  let asked = ''
  const { out, problem } = await runCommand(args, {
    env,
    terminal,
    ask: async question => {
      asked = question
      return 'no'
    },
  })
  if (args[1] !== 'show') for (const line of out.split('\n')) t.ok(line.length <= 80, line)
  return { out: out + problem, asked }
}

const host = await startTestHost(env)
const { send } = host
const { token, key, address } = await bootstrapUser(send)
const policy = { maxAuthAmountCents: 1000, approveAboveCents: 1000, dailySpendCapCents: 5000 }
/** A key below that of a session, with a session of its own. */
async function labelled(above: string, body: { readonly label: string; readonly policy?: object }) {
  const made = await send('/user/v1/keys', { body, headers: bearer(above) })
  const { userKeyId: keyId, userApiKey } = made.body as unknown as Record<string, string>
  return { keyId: keyId as string, token: await sessionOf(send, userApiKey as string) }
}
const agent = await labelled(token, { label: 'agent-travel', policy })
const child = await labelled(agent.token, { label: 'worker' })
await cardUser(send, token).fund(10_000)
await cardUser(send, agent.token).card()
await cardUser(send, child.token).card()
const money = moneyUser(send, { token: agent.token })
await money.write('/subscriptions/payin', { amountCents: 900 })
const refused = await money.write('/subscriptions/payin', { amountCents: 9900 })
const requestId = refused.headers.get('x-request-id') as string
const [, , , ownId = ''] = key.split('_')
mkdirSync(join(folder, 'gatewright'))
writeFileSync(join(folder, 'gatewright', 'login.json'), JSON.stringify({ host: host.url, keyId: ownId, key }))

t.test('an owner sees the limits of the own keys, and which one the login uses', async t => {
  const { out } = await read('my-keys', 'list')
  t.match(out, /^KEY +LABEL +STATE +.*LIMITS/m)
  t.match(out, new RegExp(`^${agent.keyId} +agent-travel +live +.*10\\.00 USD at once, 50`, 'm'))
  t.match(out, new RegExp(`^${ownId} +\\* `, 'm'))
  t.equal(out.match(/\* /g)?.length, 1, 'one key is that of the login')
})

t.test('an owner sees the key and the reason of each request', async t => {
  const { out } = await read('requests', 'tail', '--once')
  t.match(out, /^AT +STATUS +OPERATION +KEY +WHY +REQUEST$/m)
  t.match(
    out,
    new RegExp(
      `^.{11} +403 +subscript\\S+ +agent-travel +limit at once: 10\\.00 +${requestId.slice(0, 8)}$`,
      'm',
    ),
  )
})

t.test('an operator sees the key and the reason of each request, and its short id finds it', async t => {
  // Commands use the data folder alone.
  await host.close()
  const { out } = await read('requests', 'list')
  t.match(out, /^AT +STATUS +OPERATION +KEY +WHY +REQUEST$/m)
  t.match(
    out,
    new RegExp(
      `^.{11} +403 +subscript\\S+ +agent-travel +limit at once: 10\\.00 +${requestId.slice(0, 8)}$`,
      'm',
    ),
  )
  t.match((await read('requests', 'show', requestId.slice(0, 8))).out, requestId)
  t.match((await read('requests', 'show', '00000000')).out, /no kept request 00000000/)
  const json = await runCommand(['requests', 'list', '--json'], { env, ask: undefined })
  t.match(json.out, `"id": "${requestId}"`)
  t.match(json.out, '"keyLabel": "agent-travel"')
})

t.test('an operator sees the limits of keys, and what one may do in a sentence', async t => {
  const { out } = await read('keys', 'list', address)
  t.match(out, new RegExp(`^${agent.keyId} +agent-travel +live +.*10\\.00 USD at once, 50`, 'm'))
  t.match(
    out,
    new RegExp(`^${child.keyId} +worker +live +.*10\\.00 USD at once, 50`, 'm'),
    'those of the key above bind it',
  )
  const shown = (await read('keys', 'show', agent.keyId)).out.replaceAll(/\n {2,}/g, ' ')
  t.match(
    shown,
    /^may +May pay up to 10\.00 USD at once, 50\.00 USD a day \(9\.00 USD used\)\. Asks above 10\.00 USD\. /m,
  )
  t.match(shown, new RegExp(`^createdBy +session \\S+ of key ${ownId}$`, 'm'))
  t.notMatch(shown, /[{}]/, 'no JSON')
  const json = await runCommand(['keys', 'show', agent.keyId, '--json'], { env, ask: undefined })
  t.match(JSON.parse(json.out), { policies: [{}, { document: policy }].slice(-1) })
})

t.test('a revocation asks with the name of the key, and what ends with it', async t => {
  const { asked } = await read('keys', 'revoke', agent.keyId)
  t.match(
    asked,
    new RegExp(
      `^Revoke "agent-travel" \\(${agent.keyId}\\) of ${address}\\? It has 2 sessions, 1 key below it and 2 cards \\(locked with it\\)\\. Last used just now\\.\n`,
      'i',
    ),
  )
  t.match((await read('keys', 'revoke', agent.keyId, '--cards', 'keep')).asked, '2 cards (they go on)')
  await runCommand(['keys', 'revoke', child.keyId, '--yes'], { env, ask: undefined })
  t.match((await read('keys', 'revoke', agent.keyId)).asked, '1 session, 0 keys below it and')
  t.match((await read('keys', 'revoke', child.keyId)).asked, /0 sessions, .* It is revoked already\./)
})
