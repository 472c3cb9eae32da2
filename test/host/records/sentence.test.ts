import t from 'tap'
import { sentence } from '#packages/host/dist/records/sentence.js'

t.test('begins with a capital, unless with a name, and ends with a period', async t => {
  for (const [message, field, expected] of [
    ['no such key', undefined, 'No such key.'],
    ['No such key.', undefined, 'No such key.'],
    ['scope is unknown; did you mean scopes?', 'scope', 'scope is unknown; did you mean scopes?'],
    ['to must be an object', 'to.walletAddress', 'to must be an object.'],
    ['amountCents is required', undefined, 'amountCents is required.'],
    ['cards=cancel needs a scope', undefined, 'cards=cancel needs a scope.'],
    ['overlap: too long', undefined, 'Overlap: too long.'],
    ['kyc required: submit an application', undefined, 'kyc required: submit an application.'],
    ['', undefined, '.'],
  ] as const)
    t.equal(sentence(message, field), expected)
})
