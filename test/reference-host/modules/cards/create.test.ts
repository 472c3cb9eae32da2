import t from 'tap'
import * as internals from '../../../harness/internals.ts'
import { uniqueName } from '../../../harness/stores.ts'
import { openCards, ISSUED, NOTE, SURFACES, WRONG_STATE } from './open-cards.ts'

const DAY_MS = 86_400_000
const { db, clock, outside, owner, call, stored, find, events } = await openCards(t)

t.test('makes a card with what the body names', async t => {
  const ann = await owner()
  for (const surface of SURFACES) {
    const amount = surface === 'user' ? 'amount' : 'amountCents'
    for (const [body, limit] of [
      [{}, null],
      [{ limit: null }, null],
      [{ limit: { [amount]: 500 } }, { amountCents: 500, frequency: 'per30DayPeriod' }],
      [{ limit: { [amount]: 1, frequency: 'allTime' } }, { amountCents: 1, frequency: 'allTime' }],
    ] as const) {
      const effectId = uniqueName()
      t.match(await call(ann, 'create', { body, effectId }, surface), { data: {} })
      const card = await find(`card_${effectId}`)
      t.match(card, { limit, status: 'active', disposable: false, autoCancelAfterAuth: false, ...ISSUED })
      t.match(card, { issuer: 'sandbox', keyLineage: { accountId: ann.accountId }, sessionPolicies: [] })
      t.same(await events(ann, `card_${effectId}`), [[null, 'active', 'issued']])
    }
    for (const [cents, isTaken] of [
      [0, false],
      [1, true],
      [100_000_000, true],
      [100_000_001, false],
    ] as const)
      t.equal(
        'data' in (await call(ann, 'create', { body: { limit: { [amount]: cents } } }, surface)),
        isTaken,
      )
    const effectId = uniqueName()
    const labels = { encryptedName: NOTE, encryptedMemo: NOTE }
    await call(ann, 'create', { body: labels, effectId }, surface)
    t.match(await find(`card_${effectId}`), { ...labels, encryptedColor: null, encryptedEmoji: null })
  }
})

t.test('puts a new card of a user into a folder of the account', async t => {
  const [ann, bob] = [await owner(), await owner()]
  const folder = { id: `fld_${ann.accountId}`, accountId: ann.accountId, name: 'x', createdAt: 1 }
  await db.transaction(tx => internals.folders.insert(tx, folder))
  const body = { folderId: folder.id }
  t.match(await call(ann, 'create', { body }), { data: { card: body } })
  t.same(outside.asked.length, 1)
  t.match(await call(bob, 'create', { body }), { code: 'not_found', field: 'folderId' })
  t.equal(outside.asked.length, 1, 'the issuer is not asked for a card that nobody gets')
  t.match(await call(ann, 'create', { body }, 'partner'), { data: { folderId: null } })
  t.equal(
    (await find(outside.asked[1]!))?.folderId,
    null,
    'what a partner sends under this name means nothing',
  )
  outside.meanwhile = async () => {
    await db.transaction(tx => internals.deleteFolder(tx, { ...folder, position: 1 }))
  }
  t.match(await call(ann, 'create', { body }), { code: 'not_found', field: 'folderId' }, 'deleted meanwhile')
  const id = await stored(ann)
  const params = { cardId: id }
  t.match(await call(ann, 'change', { params, body }), { code: 'not_found', field: 'folderId' })
  t.match(await call(ann, 'change', { params, body: { folderId: null } }), {
    data: { card: { folderId: null } },
  })
})

t.test('makes the card of one request once', async t => {
  for (const surface of SURFACES) {
    const ann = await owner()
    const effectId = uniqueName()
    const id = `card_${effectId}`
    const first = await call(ann, 'create', { effectId }, surface)
    t.same(await call(ann, 'create', { effectId }, surface), first)
    t.same(outside.asked.filter(each => each === id).length, 1, 'the issuer is asked once')
    await call(ann, 'change', { params: { cardId: id }, body: { status: 'locked' } }, surface)
    const again = await call(ann, 'create', { effectId }, surface)
    t.match(surface === 'user' ? again.data!['card'] : again.data, { status: 'locked' }, 'as it is now')
    const late = uniqueName()
    outside.meanwhile = async other => void (await stored(ann, { id: other, last4: '0001' }))
    const found = await call(ann, 'create', { effectId: late }, surface)
    t.match(surface === 'user' ? found.data!['card'] : found.data, { last4: '0001' }, 'made meanwhile')
    outside.meanwhile = async () => {}
  }
})

t.test('denies a card that the issuer rejects', async t => {
  const ann = await owner()
  outside.reply = { rejected: 'no' }
  for (const surface of SURFACES)
    t.match(await call(ann, 'create', {}, surface).catch(String), {
      code: WRONG_STATE[surface],
      field: 'limit',
      details: { reason: 'issuer_refused' },
    })
  t.match(await call(ann, 'list'), { data: { cards: [] } })
})

t.test('an account has at most 50 cards that are not canceled', async t => {
  const ann = await owner()
  const ids: string[] = []
  for (let count = 0; count < 49; count += 1) ids.push(await stored(ann))
  await stored(ann, { status: 'canceled' })
  const denial = { code: 'policy_blocked', details: { rule: 'max_cards' }, message: /has 50 cards/ }
  outside.meanwhile = async () => void ids.push(await stored(ann))
  t.match(await call(ann, 'create'), denial, 'another one is made meanwhile')
  t.equal(outside.asked.length, 1)
  t.match(await call(ann, 'create'), denial)
  t.equal(outside.asked.length, 1, 'the issuer is not asked')
  outside.meanwhile = async () => {}
  await call(ann, 'cancel', { params: { cardId: ids[0]! } })
  t.match(await call(ann, 'create'), { data: {} })
  t.match(await call(await owner(), 'create'), { data: {} }, 'of another account')
})

t.test('an account makes at most 200 cards in 24 hours, canceled ones included', async t => {
  const ann = await owner()
  await stored(ann, { status: 'canceled' })
  clock.advance(1)
  for (let count = 0; count < 199; count += 1) await stored(ann, { status: 'canceled' })
  const denial = {
    code: 'policy_blocked',
    details: { rule: 'max_cards' },
    message: /200 cards within 24 hours/,
  }
  clock.advance(DAY_MS - 2)
  t.match(await call(ann, 'create'), denial)
  clock.advance(1)
  t.match(await call(ann, 'create'), { data: {} }, 'the first was made 24 hours ago')
  t.match(await call(ann, 'create'), denial)
})
