import assert from 'node:assert/strict'
import fc from 'fast-check'
import { decodeJwt } from 'jose'
import t from 'tap'
import { randomCases } from '../../../harness/random-cases.ts'
import { holds } from '../../../harness/holds.ts'
import { openTestHost, type HttpResponse } from '../../../harness/host.ts'
import { HOSTILE_TEXTS, isName } from '../../harness/texts.ts'

t.setTimeout(1_800_000)
const host = await openTestHost(t, { RATE_LIMITS: 'off' })

const headers = { 'x-partner-key': host.partnerKey }
const send = (path: string, body: object): Promise<HttpResponse> =>
  host.send(`/partner/v1${path}`, { body, headers })
const isUserId = (text: string): boolean => isName(text, 1, 255)

/** The account of a partner's user, from a session; undefined when the id is denied. */
async function accountOf(userId: string): Promise<string | undefined> {
  const unknown = await send('/sessions', { userId, scopes: [] })
  const resolved = await send('/users/resolve', { userId })
  if (resolved.status !== 200) {
    const [{ status, body }, session] = [resolved, unknown]
    assert.deepEqual([status, body['field'], session.status], [400, 'userId', 400])
    return undefined
  }
  const session = await send('/sessions', { userId, scopes: [] })
  assert.deepEqual([resolved.body.data['userId'], session.body.data['userId']], [userId, userId])
  return decodeJwt(session.body.data['sessionToken'] as string).sub
}

t.test('keeps the accounts of different partner user ids apart', async t => {
  const accounts = new Map<string, string>()
  for (const [what, id] of Object.entries(HOSTILE_TEXTS)) {
    const account = await accountOf(id)
    t.equal(account !== undefined, isUserId(id), what)
    if (account === undefined) continue
    t.equal(accounts.get(account), undefined, `${what}: a separate account`)
    accounts.set(account, what)
  }
  t.ok(accounts.size >= 15)
})

/** Texts of any code units, and texts that readers and stores interpret differently. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...Object.values(HOSTILE_TEXTS).filter(text => text.length <= 12)),
    fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code)),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 6,
})

/** Texts that a careless store or reader may confuse with a text. */
const confusedWith = (text: string): readonly string[] => [
  text.toWellFormed(),
  text.normalize('NFC'),
  text.normalize('NFD'),
  text.normalize('NFKC'),
  text.trim(),
  `${text} `,
  `${text}\0`,
  text.replaceAll('\0', ''),
  text.split('\0')[0] as string,
  text.toLowerCase(),
  text.toUpperCase(),
  `\ufeff${text}`,
  encodeURIComponent(text.toWellFormed()),
  text.replaceAll(/\p{C}/gu, ''),
  JSON.stringify(text).slice(1, -1),
]
const twins = anyText.chain(text =>
  fc.tuple(fc.constant(text), fc.oneof(anyText, fc.constantFrom(...confusedWith(text)))),
)

t.test('an accepted partner user id always names one account, and another id another account', async t => {
  await holds(
    t,
    fc.asyncProperty(twins, async ([one, other]) => {
      const accounts = [await accountOf(one), await accountOf(other), await accountOf(one)]
      assert.deepEqual(
        accounts.map(account => account !== undefined),
        [one, other, one].map(isUserId),
      )
      assert.equal(accounts[0], accounts[2])
      if (one !== other && accounts[0] !== undefined) assert.notEqual(accounts[0], accounts[1])
    }),
    { numRuns: randomCases(40) },
  )
})
