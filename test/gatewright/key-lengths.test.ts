// Which idempotency keys a gateway accepts, by default and with `minKeyLength: 1`, in every binding: one table.
import type { GatewrightOptions } from 'gatewright'
import t from 'tap'
import { BINDINGS, send, withOptions } from './refusals.ts'
import { createWorld } from './world.ts'

const REQUIRED = 'idempotency_key_required'
const INVALID = 'idempotency_key_invalid'
const OK = 'accepted'

/** A key as the field has it; undefined: no field. Then what the default and `minKeyLength: 1` say. */
const KEYS: readonly [title: string, key: string | undefined, byDefault: string, fromOne: string][] = [
  ['no field', undefined, REQUIRED, REQUIRED],
  ['an empty field', '', REQUIRED, REQUIRED],
  ['blanks only', '  ', REQUIRED, REQUIRED],
  ['an empty string in quotes', '""', INVALID, INVALID],
  ['spaces in quotes', '"   "', INVALID, INVALID],
  ['1 character', 'a', INVALID, OK],
  ['1 character in quotes', '"b"', INVALID, OK],
  ['7 characters', 'c234567', INVALID, OK],
  ['8 characters', 'd2345678', OK, OK],
  ['255 characters', 'e'.repeat(255), OK, OK],
  ['255 characters in quotes', `"${'f'.repeat(255)}"`, OK, OK],
  ['256 characters', 'g'.repeat(256), INVALID, INVALID],
  ['256 characters in quotes', `"${'h'.repeat(256)}"`, INVALID, INVALID],
  ['a UUID', '8e03978e-40d5-43dd-bc93-6894a57f9324', OK, OK],
  ['all signs but quote, comma and backslash', "!#$%&'()*+-./:;<=>?@[]^_`{|}~", OK, OK],
  ['a comma', 'i234,5678', INVALID, INVALID],
  ['a comma in quotes', '"j234,5678"', OK, OK],
  ['a space', 'k234 5678', INVALID, INVALID],
  ['a tab', 'l234\t5678', INVALID, INVALID],
  ['a backslash', 'm234\\5678', INVALID, INVALID],
  ['one quote', '"n2345678', INVALID, INVALID],
  ['a letter beyond ASCII', 'o234567é', INVALID, INVALID],
  ['blanks around a key', ' p2345678 ', OK, OK],
]

const OPTIONS: Readonly<Record<string, Pick<GatewrightOptions, 'idempotency'>>> = {
  'by default': {},
  'with minKeyLength 1': { idempotency: { minKeyLength: 1 } },
}

for (const [place, [binding, start]] of Object.entries(BINDINGS).entries())
  t.test(`${binding}: accepts keys of 8 to 255 characters`, async t => {
    // Bindings differ in what they read from the field, and not in what an option does to it: the first one shows that.
    const settings = Object.entries(OPTIONS).slice(0, place === 0 ? undefined : 1)
    for (const [index, [name, options]] of settings.entries()) {
      const world = withOptions(createWorld(), { ...options, gate: { hint: false } })
      const server = await start(world)
      t.teardown(() => server.close())
      const authorization = `Bearer ${await world.token('payments.write')}`
      const post = async (key: string | undefined): Promise<string> => {
        const { status, text } = await send(server.url, {
          method: 'POST',
          path: '/payments',
          body: '{"amountCents":1}',
          fields: [
            ['Authorization', authorization],
            ['Content-Type', 'application/json'],
            ...(key === undefined ? [] : ([['Idempotency-Key', key]] as const)),
          ],
        })
        return status === 201 ? OK : (JSON.parse(text) as { error: string }).error
      }
      const outcomes: [title: string, outcome: string, paid: number][] = []
      for (const [title, key] of KEYS) {
        const before = world.processor.calls.length
        const first = await post(key)
        // Once more: a key that is accepted pays once.
        if (first === OK) t.equal(await post(key), OK)
        outcomes.push([title, first, world.processor.calls.length - before])
      }
      const expected = KEYS.map(([title, , ...by]) => [title, by[index], by[index] === OK ? 1 : 0])
      t.same(outcomes, expected, name)
    }
  })
