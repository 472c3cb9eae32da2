import { createIdempotency, type IdempotencyStorage } from '@gatewright/idempotency-store'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import t from 'tap'

const make = (options: object) => () => createIdempotency({ storage: memoryIdempotency(), ...options })

t.test('refuses an option outside its bounds, and names option and bounds', async t => {
  const bounds: Record<string, [below: number, min: number, max: number, above: number]> = {
    minKeyLength: [0, 1, 255, 256],
    maxKeyLength: [7, 8, 1024, 1025],
    leaseMs: [999, 1_000, 86_400_000, 86_400_001],
    retentionMs: [59_999, 60_000, 31_536_000_000, 31_536_000_001],
    waitMs: [-1, 0, 60_000, 60_001],
    maxWaiters: [-1, 0, 100_000, 100_001],
    maxResponseBytes: [-1, 0, 16_777_216, 16_777_217],
  }
  for (const [name, [below, min, max, above]] of Object.entries(bounds)) {
    for (const value of [below, above, 1.5, NaN, '9', null]) {
      t.throws(make({ [name]: value ?? {} }), { name: 'TypeError', message: name }, `${name} ${value}`)
      t.throws(make({ [name]: value ?? {} }), { message: `from ${min} to ${max}` })
    }
    for (const value of [min, max]) t.doesNotThrow(make({ [name]: value }))
  }
})

t.test('refuses an unknown fingerprint, and a recover that is not a function', async t => {
  t.throws(make({ fingerprint: 'md5' }), {
    name: 'TypeError',
    message: /fingerprint must be "raw" or "canonical-json", not "md5"/,
  })
  t.throws(make({ recover: true }), { name: 'TypeError', message: /recover must be a function, not boolean/ })
})

t.test('does not change the options', async t => {
  const options = Object.freeze({ storage: memoryIdempotency(), storedHeaders: Object.freeze(['ETag']) })
  t.doesNotThrow(() => createIdempotency(options))
})

t.test('refuses a missing storage or database, and says what it expects', async t => {
  for (const storage of [undefined, null, {}, memoryIdempotency, 'memory']) {
    t.throws(
      () => createIdempotency({ storage: storage as never }),
      /^createIdempotency: storage must be an IdempotencyStorage/,
    )
  }
  t.throws(
    () => createIdempotency(undefined as never),
    /createIdempotency: options must be an object, not undefined/,
  )
  const db = { transaction: async () => undefined } as never
  const storage = (): IdempotencyStorage => memoryIdempotency()
  const make = (options: object) => () => createTransactionalIdempotency(options as never)
  t.throws(make({ storage }), /createTransactionalIdempotency: db must be a SqlClient/)
  t.throws(
    make({ db, storage: memoryIdempotency() }),
    /createTransactionalIdempotency: storage must be a function of the transaction/,
  )
})
