import { createAliases } from '@gatewright/legacy-alias-router'
import t from 'tap'

const aliases = createAliases({
  scopes: [
    { surface: 'user', from: 'swaps.read', to: null, mode: 'serve' },
    { surface: 'user', from: 'card.read', to: 'cards.read', mode: 'serve' },
    { surface: 'user', from: 'all.read', to: null, mode: 'gone' },
    { surface: 'user', from: 'card.write', to: 'cards.write', mode: 'gone' },
  ],
})

t.test(
  'translates renamed scopes and lists retired ones separately, without repeats, per surface',
  async t => {
    const requested = ['a.read', 'swaps.read', 'card.read', 'a.read', 'cards.read', 'swaps.read']
    const read = aliases.readScopes('user', requested)
    t.match(read, { ok: true, value: { scopes: ['a.read', 'cards.read'], ignored: ['swaps.read'] } })
    t.same(read.ok && read.value.used.map(({ alias }) => alias.id), [
      'scope:user:swaps.read',
      'scope:user:card.read',
    ])
    t.match(aliases.readScopes('partner', requested), {
      value: { scopes: ['a.read', 'swaps.read', 'card.read', 'cards.read'], ignored: [], used: [] },
    })
  },
)

t.test('denies with 410 a scope that is gone, and says what to do', async t => {
  t.match(aliases.readScopes('user', ['swaps.read', 'all.read']), {
    ok: false,
    code: 'gone',
    status: 410,
    message: 'the scope all.read is gone: leave it out',
    used: [{ alias: { from: 'swaps.read' } }, { alias: { from: 'all.read' } }],
  })
  t.match(aliases.readScopes('user', ['card.write']), { message: /request cards\.write/ })
})
