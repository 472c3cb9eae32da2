// What the operations of signing in declare: limits, forms of bodies and examples.
import type { Operation } from '@gatewright/host'
import t from 'tap'
import * as internals from '../../../harness/internals.ts'

const none = {} as never
const all = [
  ...internals.signInOperations(none),
  ...internals.cliOperations(none),
  internals.openConsole(none),
  ...internals.signInRedirects(),
]
const operation = (id: string): Operation => all.find(each => each.id === `auth.${id}`) as Operation
const exampleOf = (id: string): object => operation(id).example.response

t.test('declares what each operation needs', async t => {
  const declared = all.map(each => [
    each.id,
    `${each.method} ${each.credential}, ${each.limit}`,
    each.denies?.join() ?? '',
    each.topLevel ? 'top level' : each.document && each.redirects ? 'redirects' : 'data',
    each.unknownMembers ?? 'list',
  ])
  t.same(declared, [
    ['auth.challenge', 'POST none, bootstrap', '404', 'top level', 'list'],
    ['auth.login', 'POST none, bootstrap', '401,404', 'top level', 'list'],
    ['auth.session', 'POST none, token-check', '', 'top level', 'list'],
    ['auth.startCli', 'POST none, bootstrap', '', 'top level', 'deny'],
    ['auth.pollCli', 'POST none, poll', '404', 'top level', 'list'],
    ['auth.inspectCli', 'POST none, bootstrap', '404', 'top level', 'list'],
    ['auth.denyCli', 'POST none, bootstrap', '404', 'top level', 'list'],
    ['auth.openConsole', 'POST web-token, token-check', '', 'top level', 'deny'],
    ['auth.openCli', 'GET none, document', '', 'redirects', 'list'],
    ['auth.openKyc', 'GET none, document', '', 'redirects', 'list'],
  ])
})

t.test('shows in its examples what responses have', async t => {
  t.match(exampleOf('challenge'), { siwe: true })
  t.match(exampleOf('login'), { session: { chainId: 1, status: 'valid' } })
  t.match(exampleOf('startCli'), { code: /^[A-Z]{4}-\d{4}$/, pollIntervalMs: 1500 })
  t.match(exampleOf('inspectCli'), { sameNetwork: true })
  t.match(operation('challenge').example.body, { chainId: 1 })
})

t.test('takes texts up to their longest, and no longer', async t => {
  const isTaken = (id: string, changes: object): boolean =>
    internals.compileSchema(operation(id).body!)({ ...operation(id).example.body, ...changes }) === undefined
  const bounds: readonly (readonly [id: string, member: string, most: number, least?: number])[] = [
    ['challenge', 'address', 42],
    ['challenge', 'connector', 40, 0],
    ['challenge', 'walletLabel', 120, 0],
    ['challenge', 'requestId', 120],
    ['challenge', 'code', 20],
    ['login', 'address', 42],
    ['login', 'nonce', 128],
    ['login', 'challengeToken', 8192],
    ['session', 'accessToken', 8192],
    ['startCli', 'clientName', 60],
    ['pollCli', 'requestToken', 120],
    ['inspectCli', 'requestId', 120],
    ['denyCli', 'requestId', 120],
    ['denyCli', 'code', 20],
  ]
  for (const [id, member, most, least = 1] of bounds) {
    const takes = (size: number): boolean => isTaken(id, { [member]: 'x'.repeat(size) })
    t.same([takes(least), takes(most), takes(most + 1)], [true, true, false], `${id} ${member}`)
    if (least > 0) t.notOk(takes(least - 1), `${id} ${member}`)
  }
  for (const member of ['connector', 'walletLabel', 'chainId']) t.ok(isTaken('challenge', { [member]: null }))
  for (const chainId of [
    1,
    Number.MAX_SAFE_INTEGER,
    '1',
    'eip155:1',
    '9'.repeat(15),
    '0x1',
    `0x1${'f'.repeat(11)}`,
  ])
    t.ok(isTaken('challenge', { chainId }), String(chainId))
  for (const chainId of [
    0,
    1.5,
    '0',
    '01',
    'eip155:0',
    'eip155:',
    'EIP155:1',
    'solana:1',
    '9'.repeat(16),
    '0x0',
    `0x1${'f'.repeat(12)}`,
    '0X1',
  ])
    t.notOk(isTaken('challenge', { chainId }), String(chainId))
  t.ok(isTaken('login', { signature: '' }))
})
