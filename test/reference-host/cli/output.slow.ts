import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import Database from 'libsql'
import t from 'tap'
import { gatewright } from '../../harness/gatewright.ts'
import { PROGRAMS } from '../../harness/programs.ts'
import { temporaryFolder } from '../../harness/files.ts'

const dataDir = temporaryFolder(t)
const env = { DATA_DIR: dataDir, PORT: '0' }

type Outcome = { readonly code: number | null; readonly errors: string }

/** Runs a command whose output cannot be written: the disk is full, or nobody reads it. */
async function run(to: 'full disk' | 'closed pipe', args: readonly string[], more = {}): Promise<Outcome> {
  const full = to === 'full disk' ? openSync('/dev/full', 'w') : undefined
  const child = spawn(process.execPath, [PROGRAMS.command, ...args], {
    env: { PATH: process.env['PATH'], ...env, ...more },
    stdio: ['ignore', full ?? 'pipe', 'pipe'],
  })
  if (full !== undefined) closeSync(full)
  child.stdout?.destroy()
  const [errors, [code]] = await Promise.all([
    text(child.stderr as NonNullable<typeof child.stderr>),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  return { code, errors }
}

const made = JSON.parse((await gatewright(['partner-keys', 'create', 'First', '--json'], env)).output) as {
  readonly partnerId: string
  readonly keyId: string
}
const endpoint = JSON.parse(
  (await gatewright(['webhooks', 'add', made.partnerId, 'http://127.0.0.1:4000/', '--json'], env)).output,
) as { readonly endpointId: string }

const FULL = /^cannot write the output: ENOSPC: no space left on device, write\n/

t.test('a command whose output cannot be written exits with 1 and says so', async t => {
  for (const args of [['help'], ['partner-keys', 'list', '--json'], ['migrate']]) {
    const { code, errors } = await run('full disk', args)
    t.equal(code, 1, args.join(' '))
    t.match(errors, new RegExp(`${FULL.source}$`), args.join(' '))
  }
})

t.test('a command whose reader has gone ends quietly', async t => {
  t.same(await run('closed pipe', ['partner-keys', 'list']), { code: 1, errors: '' })
})

t.test('a secret that could not be shown is not lost: the command says how to get another', async t => {
  const commands: readonly (readonly [args: readonly string[], remedy: RegExp])[] = [
    [
      ['partner-keys', 'create', 'Second'],
      /\nKey (\w+) of ptn_\w+ was made.*(partner-keys rotate \1 --overlap 0)\n$/,
    ],
    [
      ['partner-keys', 'rotate', made.keyId, '--json'],
      /\nKey (\w+) of ptn_\w+ .*(partner-keys rotate \1 --overlap 0)\n$/,
    ],
    [
      ['webhooks', 'add', made.partnerId, 'http://127.0.0.1:4001/'],
      /\nThe new secret of endpoint (\w+) .*(webhooks rotate \1)\n$/,
    ],
    [
      ['webhooks', 'rotate', endpoint.endpointId],
      /\nThe new secret of endpoint (\w+) .*(webhooks rotate \1)\n$/,
    ],
  ]
  for (const [at, [args, remedy]] of commands.entries()) {
    const { code, errors } = await run(at % 2 === 0 ? 'full disk' : 'closed pipe', args)
    t.equal(code, 1, args.join(' '))
    const found = remedy.exec(errors)
    t.ok(found, errors)
    t.match(await gatewright([...(found?.[2] ?? '').split(' '), '--yes', '--json'], env), {
      code: 0,
      output: /"(?:key|secret)": "(?:gw_|whsec_)/,
    })
  }
})

/** A host that gives everybody the same response. */
async function startFakeHost(): Promise<string> {
  const at = '2026-11-28T12:00:00.000Z'
  const event = {
    type: 'deposit.completed',
    timestamp: at,
    data: { eventId: 'evt_1', id: 'dep_1', userId: 'ann' },
  }
  const kept = {
    id: 'req_1',
    createdAt: at,
    operation: 'balances.read',
    status: 200,
    error: null,
    message: null,
  }
  const body = {
    sessionToken: 'token',
    events: [event],
    nextCursor: 'cursor',
    requests: [kept],
    userKeyId: 'the-key-id',
    userApiKey: 'gw_sandbox_user_secret',
  }
  const server = createServer((_, response) => response.end(JSON.stringify(body))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('commands on an account, and those that go on, end when their output cannot be written', async t => {
  const url = await startFakeHost()
  const login = { XDG_CONFIG_HOME: dataDir, PARTNER_KEY: 'key' }
  mkdirSync(join(dataDir, 'gatewright'))
  writeFileSync(
    join(dataDir, 'gatewright/login.json'),
    JSON.stringify({ host: url, keyId: 'k', key: 'secret', walletAddress: null }),
  )
  const database = new Database(join(dataDir, 'host.sqlite'))
  database.exec(`insert into gw_published_events values ('operator', 0, 1, 'evt_1',
    '{"type":"deposit.completed","data":{"userId":"ann","id":"dep_1"}}', 0)`)
  database.close()
  for (const args of [
    ['listen', url, '--all'],
    ['requests', 'tail'],
    ['events', 'tail', '--follow'],
  ]) {
    const { code, errors } = await run('full disk', args, login)
    t.equal(code, 1, args.join(' '))
    t.match(errors, /cannot write the output: ENOSPC/, args.join(' '))
    t.notMatch(errors, / {4}at /, args.join(' '))
    t.same(await run('closed pipe', args, login), { code: 1, errors: '' }, args.join(' '))
  }
  const made = await run('closed pipe', ['my-keys', 'create', 'agent'], login)
  t.equal(made.code, 1)
  t.match(made.errors, /\nKey the-key-id was made, but not shown.*my-keys revoke the-key-id\n$/)
  t.notMatch(made.errors, /secret/)
})
