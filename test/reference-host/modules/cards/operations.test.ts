import { rows } from '@gatewright/kernel/sql'
import t from 'tap'
import { NEW_CARD } from './card-bench.ts'
import * as internals from '../../../harness/internals.ts'
import { uniqueName } from '../../../harness/stores.ts'
import { openCards, ISSUED, SURFACES } from './open-cards.ts'

const { db, clock, outside, all, operation, owner, services, call, stored, find, events } = await openCards(t)

t.test('declares what each operation needs', async t => {
  const declared = all.map(each => [
    `${each.surface} ${each.id}`,
    'write' in each ? `${each.idempotency ?? 'required'}, spends ${each.spends}, ${each.requires}` : 'reads',
    'write' in each ? (each.denies?.join() ?? '') : '',
    each.cardSecrets ?? false,
  ])
  const writes = (idempotency: string, requires?: string): string =>
    `${idempotency}, spends false, ${requires}`
  t.same(declared, [
    ['user cards.list', 'reads', '', false],
    ['user cards.read', 'reads', '', false],
    ['user cards.change', writes('required'), '404', false],
    ['user cards.create', writes('required', 'onboarding'), '404', false],
    ['user cards.openSecrets', 'reads', '', true],
    ['user cards.reveal', writes('none'), '404', true],
    ['partner cards.list', 'reads', '', false],
    ['partner cards.read', 'reads', '', false],
    ['partner cards.change', writes('none'), '404,409', false],
    ['partner cards.create', writes('optional', 'onboarding'), '409', false],
    ['partner cards.openSecrets', 'reads', '', true],
    ['partner cards.reveal', writes('none'), '404,409', true],
    ['user cards.propose', writes('required'), '', false],
    ['user cards.execute', writes('required', 'onboarding'), '404', false],
    ['user cards.cancel', writes('required'), '404', false],
    ['partner cards.cancel', writes('none'), '404', false],
  ])
  const without = internals.cardOperations({ ...services, providers: {} })
  t.same(
    without.map(({ surface, id }) => `${surface} ${id}`),
    SURFACES.flatMap(surface => ['list', 'read', 'change'].map(id => `${surface} cards.${id}`)).concat(
      SURFACES.map(surface => `${surface} cards.cancel`),
    ),
    'without an issuer none are made or revealed',
  )
})

t.test('responds as its examples say', async t => {
  const shown = (data: object): object =>
    JSON.parse(
      JSON.stringify(data, (name, value) =>
        /^(?:id|cardId|proposalId|\w+At|sortOrder|nextCursor|keyLineageId)$/.test(name) ? undefined : value,
      ),
    )
  for (const surface of SURFACES) {
    const ann = await owner()
    const make = operation('create', surface)
    const { data } = await call(ann, 'create', { body: make.example.body }, surface)
    t.same(shown(data!), shown(make.example.response), surface)
    const read = operation('read', surface).example.response
    const cardId = surface === 'user' ? data!['card'].id : data!['cardId']
    const again = await call(ann, 'read', { params: { cardId } }, surface)
    t.same(shown(again.data!), shown(read), surface)
    const list = await call(ann, 'list', {}, surface)
    t.same(shown(list.data!), shown(operation('list', surface).example.response), surface)
    if (surface === 'partner') t.equal(data!['sortOrder'], 1)
  }
  const ann = await owner()
  const proposed = await call(ann, 'propose', { body: operation('propose', 'user').example.body })
  t.same(shown(proposed.data!), shown(operation('propose', 'user').example.response))
  const { proposalId } = proposed.data!['disposable']
  const executed = await call(ann, 'execute', { body: { proposalId } })
  const { disposable } = operation('execute', 'user').example.response as { disposable: object }
  t.same(shown(executed.data!['disposable']), shown(disposable))
})

t.test('lists cards in the order of issue, page by page', async t => {
  const ann = await owner()
  const ids = [await stored(ann), await stored(ann, { status: 'canceled' }), await stored(ann)]
  await stored(await owner())
  for (const [surface, expected] of [
    ['user', [ids[0], ids[2]]],
    ['partner', ids],
  ] as const) {
    const seen: unknown[] = []
    let query = 'limit=1'
    for (;;) {
      const { data } = await call(ann, 'list', { query }, surface)
      t.equal(data!['cards'].length, 1)
      seen.push(data!['cards'][0][surface === 'user' ? 'id' : 'cardId'])
      if (data!['nextCursor'] === null) break
      query = `limit=1&cursor=${data!['nextCursor']}`
    }
    t.same(seen, expected)
  }
  for (let count = 0; count < 20; count += 1) await stored(ann)
  const [user, partner] = [await call(ann, 'list'), await call(ann, 'list', {}, 'partner')]
  t.match([user.data!['cards'].length, user.data!['nextCursor']], [22, null], 'users read up to 100 at once')
  t.match([partner.data!['cards'].length, typeof partner.data!['nextCursor']], [20, 'string'])
  t.match(await call(ann, 'list', { query: 'limit=101' }), { code: 'invalid_request' })
  const most = await owner()
  await db.transaction(tx =>
    internals.cards.insert(
      tx,
      most.accountId,
      Array.from({ length: 101 }, () => ({ ...NEW_CARD, ...ISSUED, id: `card_${uniqueName()}` })),
      clock.now(),
    ),
  )
  const page = await call(most, 'list')
  t.match([page.data!['cards'].length, typeof page.data!['nextCursor']], [100, 'string'])
})

t.test('cancels a card for good, on both surfaces', async t => {
  const [ann, bob] = [await owner(), await owner()]
  for (const surface of SURFACES) {
    const params = { cardId: await stored(ann, { status: 'locked' }) }
    t.match(await call(bob, 'cancel', { params }, surface), { code: 'not_found' })
    const first = await call(ann, 'cancel', { params }, surface)
    const at = new Date(clock.now()).toISOString()
    if (surface === 'user')
      t.match(first.data, { card: { status: 'canceled', canceledAt: at, cancelReason: 'user' } })
    else t.same(first.data, { cardId: params.cardId, status: 'canceled', deletedAt: at })
    clock.advance(1)
    t.same(await call(ann, 'cancel', { params }, surface), first, 'again')
    t.same(await events(ann, params.cardId), [['locked', 'canceled', 'user']])
  }
  const createdAt = clock.now()
  const params = { cardId: await stored(ann, { status: 'canceled' }) }
  clock.advance(1000)
  const seeded = await call(ann, 'cancel', { params }, 'partner')
  t.equal(seeded.data!['deletedAt'], new Date(createdAt).toISOString(), 'it was made so')
})

t.test('finds no card of another account', async t => {
  const [ann, bob] = [await owner(), await owner()]
  const params = { cardId: await stored(ann) }
  const before = await find(params.cardId)
  for (const surface of SURFACES) {
    const opened = await call(bob, 'openSecrets', {}, surface)
    const { sessionId } = surface === 'user' ? opened.data!['secrets'] : opened.data!
    for (const [id, body] of [
      ['read', {}],
      ['change', { status: 'locked' }],
      ['reveal', { sessionId }],
    ] as const)
      t.match(await call(bob, id, { params, body }, surface), { code: 'not_found' }, `${surface} ${id}`)
  }
  t.same(await find(params.cardId), before)
  outside.meanwhile = async () => void (await rows(db, 'delete from gw_cards where id = $1', [params.cardId]))
  const { sessionId } = (await call(ann, 'openSecrets')).data!['secrets']
  t.match(await call(ann, 'reveal', { params, body: { sessionId } }), { code: 'not_found' }, 'gone meanwhile')
})

t.test('the examples of reveals have the form of a response', async t => {
  for (const surface of SURFACES) {
    const ann = await owner()
    const opened = await call(ann, 'openSecrets', {}, surface)
    const { sessionId } = surface === 'user' ? opened.data!['secrets'] : opened.data!
    const params = { cardId: await stored(ann) }
    const { data } = await call(ann, 'reveal', { params, body: { sessionId } }, surface)
    const shown = (value: object): unknown =>
      JSON.parse(
        JSON.stringify(value, (name, each) => (name === 'iv' || name === 'data' ? typeof each : each)),
      )
    t.same(shown(data!), shown(operation('reveal', surface).example.response))
  }
})
