import { randomBytes } from 'node:crypto'
import { createSealer, type RingKey } from '#packages/host/dist/records/sealed.js'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'

const key = (id: string): RingKey => ({ id, secret: randomBytes(32) })
const [old, current] = [key('2025'), key('2026')]
const sealer = createSealer([current, old])
const anyText = fc.string({ unit: 'binary', maxLength: 200 })
const anyBinding = fc.tuple(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }))

// `open` is for texts of the database and throws a Fault; `openFromClient` is for texts that a client sent, and returns undefined.
t.test('opens what it sealed, for the same purpose and owner', async () => {
  fc.assert(
    fc.property(
      anyBinding,
      anyText,
      ([purpose, owner], text) =>
        sealer.open(purpose, owner, sealer.seal(purpose, owner, text)) === text &&
        sealer.openFromClient(purpose, owner, sealer.seal(purpose, owner, text)) === text,
    ),
  )
})

t.test('opens nothing for another purpose or another owner', async t => {
  fc.assert(
    fc.property(anyBinding, anyBinding, anyText, (one, other, text) => {
      fc.pre(one[0] !== other[0] || one[1] !== other[1])
      return sealer.openFromClient(...other, sealer.seal(...one, text)) === undefined
    }),
  )
  // A character that moves from the purpose to the owner gives another binding.
  t.equal(sealer.openFromClient('a', 'bc', sealer.seal('ab', 'c', 'x')), undefined)
})

t.test('never opens a text of which any character was changed, added or left out', async () => {
  const anyPlace = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  const anyInsertion = fc.constantFrom('', ...'ABCDWXYZabcdwxyz0189-_.= é')
  fc.assert(
    fc.property(anyText, anyPlace, anyInsertion, fc.nat(2), (text, place, insertion, removed) => {
      const sealed = sealer.seal('profile', 'acc', text)
      const at = Math.floor(place * (sealed.length + 1))
      const changed = sealed.slice(0, at) + insertion + sealed.slice(at + removed)
      fc.pre(changed !== sealed)
      return sealer.openFromClient('profile', 'acc', changed) === undefined
    }),
    { numRuns: randomCases(2000) },
  )
})

t.test('opens no text that a client made up', async () => {
  fc.assert(fc.property(anyText, text => sealer.openFromClient('challenge', 'acc', text) === undefined))
  // Well formed (key id, point, base64url), under a key that exists.
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 60 }),
      bytes =>
        sealer.openFromClient('challenge', 'acc', `2026.${Buffer.from(bytes).toString('base64url')}`) ===
        undefined,
    ),
  )
})

t.test('seals the same text differently each time', async t => {
  const sealed = Array.from({ length: 100 }, () => sealer.seal('profile', 'acc', 'same'))
  t.equal(new Set(sealed).size, 100)
})

t.test('seals under the first key of the ring, and opens under each of them', async t => {
  const before = createSealer([old]).seal('profile', 'acc', 'mine')
  t.equal(sealer.open('profile', 'acc', before), 'mine')
  t.equal(sealer.isCurrent(before), false)
  t.equal(sealer.isCurrent(sealer.seal('profile', 'acc', 'mine')), true)
})

t.test(
  'open throws a fault that contains nothing of the text if the key is missing or the text was changed',
  async t => {
    const sealed = sealer.seal('profile', 'acc', 'mine')
    const later = createSealer([key('2027')])
    t.throws(() => later.open('profile', 'acc', sealed), {
      name: 'Fault',
      code: 'ERR_DATA_KEY_MISSING',
      message: 'DATA_KEYS has no key "2026", with which a profile is sealed: add the key again',
    })
    t.equal(later.openFromClient('profile', 'acc', sealed), undefined)
    const message =
      'a sealed profile cannot be opened: the stored text was changed, or is of another account: restore the record from a backup'
    for (const changed of [sealed.slice(0, -2), 'mine', '', `${sealed}=`])
      t.throws(() => sealer.open('profile', 'acc', changed), {
        name: 'Fault',
        code: 'ERR_STORE_REPLY',
        message,
      })
    t.throws(() => sealer.open('profile', 'bob', sealed), { code: 'ERR_STORE_REPLY', message })
  },
)

t.test('refuses an empty ring', async t => {
  t.throws(() => createSealer([]), {
    name: 'TypeError',
    message: 'DATA_KEYS must have at least one key, got none',
  })
})
