import { throws } from 'node:assert/strict'
import { checkedRule } from '@gatewright/kernel/internal'
import fc from 'fast-check'
import t from 'tap'
import { holds } from '../harness/holds.ts'

const wrong = (rule: unknown, message: RegExp): void => {
  t.throws(() => checkedRule(rule), { name: 'TypeError', message }, JSON.stringify(rule))
}

t.test('accepts a rule that names its scopes, or says that it needs none', async t => {
  for (const rule of [
    { operation: 'cards.list', allOf: ['cards.read'] },
    { operation: 'cards.list', anyOf: ['cards.read', 'cards.write'] },
    { operation: 'cards.list', allOf: ['read:cards'], anyOf: ['https://api.example/x'] },
    { operation: 'cards.secrets.read', allOf: [], surface: 'user', limit: 'reads', cardSecrets: true },
    { operation: 'payments.create', allOf: [], spends: 'withdrawal' },
  ]) {
    t.equal(checkedRule(rule), rule)
  }
})

t.test('rejects a rule that names no scopes and does not say that it needs none', async () => {
  wrong({ operation: 'cards.list' }, /rule of "cards\.list".*allOf or anyOf.*allOf: \[\].*no scope is needed/)
  wrong({ operation: 'cards.list', surface: 'user', spends: 'spend' }, /allOf: \[\]/)
  wrong({ operation: 'cards.list', anyOf: [] }, /anyOf must name at least one scope/)
  wrong({ operation: 'cards.list', allOf: ['cards.read'], anyOf: [] }, /anyOf must name at least one scope/)
})

t.test('names an unknown member, and lists the known ones', async () => {
  wrong({ operation: 'a.b', allof: ['x'] }, /rule of "a\.b": allof is not known.*allOf, anyOf/)
  wrong({ operation: 'a.b', scopes: ['x'] }, /scopes is not known/)
  wrong({ operation: 'a.b', allOf: ['x'], surfce: 'user' }, /surfce is not known/)
  wrong({ operation: 'a.b', allOf: ['x'], spend: 'spend' }, /spend is not known/)
})

t.test('names a member that is undefined', async () => {
  for (const member of ['allOf', 'anyOf', 'surface', 'limit', 'spends', 'cardSecrets']) {
    const rule = { operation: 'a.b', allOf: ['x'], [member]: undefined }
    wrong(rule, new RegExp(`rule of "a\\.b": ${member} is undefined`))
  }
  wrong({ operation: 'a.b', anyOf: ['x'], allOf: undefined }, /allOf is undefined/)
})

t.test('names a member of the wrong type', async () => {
  for (const rule of [undefined, null, 'cards.list', ['cards.list'], 7])
    wrong(rule, /a rule must be an object/)
  wrong({ allOf: [] }, /operation must be "tag\.verb", not undefined/)
  wrong({ operation: 'nodot', allOf: [] }, /operation must be "tag\.verb", not "nodot"/)
  wrong({ operation: 'a.b', allOf: 'x' }, /allOf must be a list of scopes/)
  wrong({ operation: 'a.b', allOf: new Set(['x']) }, /allOf must be a list of scopes/)
  for (const scope of ['a b', '', 'a"b', 7, undefined, null])
    wrong({ operation: 'a.b', allOf: ['x', scope] }, /allOf must contain only scopes.*\[1\]/)
  wrong({ operation: 'a.b', anyOf: Array(1) }, /anyOf must contain only scopes.*\[0\]/)
  wrong({ operation: 'a.b', allOf: [], surface: 'admin' }, /surface must be user or partner/)
  wrong({ operation: 'a.b', allOf: [], spends: 'money' }, /spends must be spend or withdrawal/)
  wrong({ operation: 'a.b', allOf: [], limit: '' }, /limit must be/)
  wrong({ operation: 'a.b', allOf: [], cardSecrets: 'yes' }, /cardSecrets must be true or false/)
})

t.test('rejects any other member, with any name and value', async t => {
  const known = ['operation', 'surface', 'allOf', 'anyOf', 'limit', 'spends', 'cardSecrets']
  const name = fc.string({ minLength: 1 }).filter(text => !known.includes(text) && text !== '__proto__')
  await holds(
    t,
    fc.property(name, fc.anything(), (member, value) => {
      throws(() => checkedRule({ operation: 'a.b', allOf: ['x'], [member]: value }), {
        name: 'TypeError',
        message: `rule of "a.b": ${member} is not known; known are ${known.join(', ')}`,
      })
    }),
  )
})
