// Commands at a host that answers anything.
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { runCommand } from '@gatewright/reference-host'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../../harness/files.ts'

const folder = temporaryFolder(t)

/** What a host answers to a request, the nth one for its path from 0: the status and the text of its body. */
type Answer = (path: string, nth: number) => readonly [status: number, body: string]

/** Starts a host. Resolves to its address and when the requests for each path came. */
async function startHost(t: Test, answer: Answer) {
  const cameAt: Record<string, number[]> = {}
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://x').pathname
    const times = (cameAt[path] ??= [])
    const [status, body] = answer(path, times.length)
    times.push(performance.now())
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cameAt }
}

const pausesOf = (times: readonly number[] = []): number[] =>
  times.slice(1).map((time, at) => time - (times[at] as number))

/** Runs a command with a key for the host, and returns how it ended. */
async function run(host: string, args: readonly string[]) {
  const home = mkdtempSync(join(folder, 'home-'))
  mkdirSync(join(home, 'gatewright'))
  const login = { host, keyId: 'key_1', key: 'gwu_1', walletAddress: null }
  writeFileSync(join(home, 'gatewright', 'login.json'), JSON.stringify(login))
  const notes: string[] = []
  const result = await runCommand([...args, '--json', '--yes'], {
    env: { XDG_CONFIG_HOME: home, PARTNER_KEY: 'gwp_1' },
    ask: undefined,
    progress: note => notes.push(note),
  })
  return { ...result, notes }
}

const event = {
  type: 'deposit.completed',
  timestamp: '2026-01-01T00:00:00Z',
  data: { eventId: 'evt_1', id: 'dep_1', userId: 'ann' },
}
/** Bodies that are not what any command expects. */
const BODIES = [
  '',
  '<html>',
  'null',
  '7',
  '"text"',
  '[]',
  '{}',
  '{"data":null}',
  '{"data":[]}',
  '{"data":{}}',
  JSON.stringify({ data: { events: null, keys: null, requests: null, payment: null } }),
  JSON.stringify({ data: { events: [null], keys: [null], requests: [null], nextCursor: 'c' } }),
  JSON.stringify({ data: { events: [{}], keys: [{}], requests: [{}], nextCursor: 'c' } }),
  JSON.stringify({ data: { events: [{ ...event, data: null }], nextCursor: 'c' } }),
  JSON.stringify({ data: { events: [{ ...event, timestamp: 7 }], nextCursor: 'c' } }),
  JSON.stringify({ data: { events: [], nextCursor: { a: 1 } } }),
  JSON.stringify({
    data: {
      keys: [
        { id: 7, label: {}, lastUsedAt: 'soon', scopes: 5, revokedAt: [], policy: { limits: [null, 5, {}] } },
        { policy: [7, { limits: 7, dailySpendCapCents: '1' }] },
      ],
      requests: [{ id: 'r', createdAt: 'soon', operation: 1, status: {}, message: [] }],
    },
  }),
]

t.test('a command at a host that answers anything ends with a message and without a stack trace', async t => {
  const commands = [
    ['my-keys', 'list'],
    ['my-keys', 'create', 'agent'],
    ['my-keys', 'revoke', 'key_2'],
    ['pay', `0x${'1'.repeat(40)}`, '1.00'],
    ['requests', 'tail', '--once'],
    ['logout'],
  ]
  for (const body of BODIES)
    for (const sessions of [body, JSON.stringify({ data: { sessionToken: 'token' } })]) {
      const { url } = await startHost(t, path => [200, path.endsWith('/sessions') ? sessions : body])
      for (const command of [...commands, ['login', url]]) {
        const { problem } = await run(url, command)
        t.notMatch(problem, /"unexpected"|\bat .*:\d+:\d+/, `${command.join(' ')}: ${body}`)
      }
    }
})

t.test('listen pauses between polls of a host that always has more events or none at all', async t => {
  const polls = 4
  const page = (nextCursor: string) => JSON.stringify({ data: { events: [event], nextCursor } })
  const answers = [
    (): string => page('same'),
    (nth: number): string => page(`c${nth}`),
    ...BODIES.map(body => () => body),
  ]
  await Promise.all(
    answers.map(async answer => {
      const { url, cameAt } = await startHost(t, (_, nth) =>
        nth < polls ? [200, answer(nth)] : [401, '{"error":"unauthorized","message":"no"}'],
      )
      const { code, problem } = await run(url, ['listen', url])
      t.equal(code, 1)
      t.match(JSON.parse(problem), { error: 'unauthorized', message: 'no' })
      const pauses = pausesOf(cameAt['/partner/v1/events'])
      t.equal(pauses.length, polls)
      t.ok(Math.min(...pauses) >= 90, `${answer(0)}: ${pauses.join(' ')}`)
    }),
  )
})

t.test(
  'login pauses between polls whatever the host says, and ends when it answers something else',
  async t => {
    await Promise.all(
      [0, -1, 1, null, 'soon', {}, undefined].map(async pollIntervalMs => {
        const started = { url: 'https://x\n', code: 'A\u001b[2J', requestToken: 'r', pollIntervalMs }
        const { url, cameAt } = await startHost(t, (path, nth) => {
          if (path === '/auth/cli/start') return [200, JSON.stringify({ data: started })]
          return [200, JSON.stringify({ data: { status: nth < 3 ? 'pending' : 'completed' } })]
        })
        const { code, problem, notes } = await run(url, ['login', url])
        t.equal(code, 1)
        t.match(JSON.parse(problem), { error: 'failed', message: /answers without token/ })
        t.ok(
          Math.min(...pausesOf(cameAt['/auth/cli/poll'])) >= 450,
          `pollIntervalMs ${JSON.stringify(pollIntervalMs)}`,
        )
        t.same(notes, [
          'Open https://x\\u000a\nand type this code: A\\u001b[2J\nWaiting for your approval, 30 min left. Ctrl-C ends it.',
        ])
      }),
    )
  },
)

t.test('a key that is no header field is refused without showing it', async t => {
  const { url } = await startHost(t, () => [200, '{}'])
  const { code, problem } = await runCommand(['listen', url], {
    env: { PARTNER_KEY: 'secret\nkey' },
    ask: undefined,
  })
  t.equal(code, 1)
  t.equal(problem, 'PARTNER_KEY must hold the key of a partner')
})
