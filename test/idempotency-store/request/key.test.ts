import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import t from 'tap'
import { response, write } from '../support.ts'

t.test('treats the quoted and the bare form as the same key', async t => {
  const { begin, complete } = createIdempotency({ storage: memoryIdempotency() })
  const begun = await begin(write({ key: 'key-00000001' }))
  if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
  await complete(begun.value.claim, response(201))
  for (const key of ['"key-00000001"', ' key-00000001 ', '\t"key-00000001" ']) {
    t.match(await begin(write({ key })), { value: { state: 'replay' } })
  }
})

t.test('ignores the structured-field parameters of a quoted key', async t => {
  const { begin, complete } = createIdempotency({ storage: memoryIdempotency() })
  const begun = await begin(write({ key: 'key-00000001' }))
  if (!begun.ok || begun.value.state !== 'started') throw new Error('not started')
  await complete(begun.value.claim, response(201))
  const parameters = [
    '; v=1',
    ';v=1',
    ';  v=-12.345',
    ';v',
    ';v=?1',
    ';*a_b-c.d*=1',
    ';a="x;y=\\"z"',
    ';t=tok/en:*',
    ';b=:aGk=:',
    ';b=::',
    ';a=1; b=2;c',
    ';a=1;a=2',
    ';d=@1659578233',
    ';u=%"f%c3%bc"',
    ' ',
  ]
  for (const each of parameters) {
    t.match(await begin(write({ key: `"key-00000001"${each}` })), { value: { state: 'replay' } }, each)
  }
  t.match(
    await begin(write({ key: 'key-00000001;v=1' })),
    { value: { state: 'started' } },
    'a bare key has no parameters',
  )
})

t.test('reads a field with many parameters in linear time', async t => {
  const { begin } = createIdempotency({ storage: memoryIdempotency() })
  const many = ';a=1'.repeat(250_000)
  t.match(await begin(write({ key: `"key-00000001"${many}` })), { value: { state: 'started' } })
  t.match(await begin(write({ key: `"key-00000002"${many};` })), { code: 'idempotency_key_invalid' })
  const spaces = `"key-00000003";${' '.repeat(1_000_000)}`
  t.match(await begin(write({ key: `${spaces}=` })), { code: 'idempotency_key_invalid' })
})

t.test('requires a key when none or an empty one was sent', async t => {
  const { begin } = createIdempotency({ storage: memoryIdempotency() })
  for (const key of [undefined, '', '  ']) {
    t.match(await begin(write({ key })), { code: 'idempotency_key_required', status: 400 })
  }
})

t.test('reads a field with many spaces in linear time', async t => {
  const { begin } = createIdempotency({ storage: memoryIdempotency() })
  const spaces = ' '.repeat(1_000_000)
  t.match(await begin(write({ key: `key-1${spaces}key-2` })), { code: 'idempotency_key_invalid' })
  t.match(await begin(write({ key: `${spaces}key-00000001${spaces}` })), { value: { state: 'started' } })
})

t.test(
  'denies a key that is too short, too long or has other characters, without a storage call',
  async t => {
    const called = () => t.fail('storage was called') as never
    const storage = {
      begin: called,
      end: called,
      extend: called,
      takeOver: called,
      listLost: called,
      find: called,
      collect: called,
    }
    const { begin } = createIdempotency({ storage })
    const bad = [
      '1234567',
      '"1234567"',
      'x'.repeat(256),
      `"${'x'.repeat(256)}"`,
      'key-0000 0001',
      'key-00000001, key-00000002',
      'key-0000é0001',
      'key-0000\u00000001',
      '"key-00000001',
      'key-00000001"',
      '"key-0"0000001"',
      '"key-\\n0000001"',
      '"key-00000001\\"',
      '"        "',
      '"          "; v=1',
      '"key-00000001" v=1',
      '"key-00000001";',
      '"key-00000001";v=',
      '"key-00000001";V=1',
      '"key-00000001";v=1.',
      '"key-00000001";v=1;',
      '"key-00000001" ;v=1',
      '"key-00000001";\tv=1',
      '"key-00000001";v=1, "key-00000002"',
      '"key-00000001";v="a',
      '"key-00000001";v=:a',
      '"key-00000001";v=?2',
      '"key-00000001";v=1234567890123456',
      '"key-00000001";v=1234567890123.1',
      '"key-00000001";v=@1.5',
      '"key-00000001";v=%"%E9"',
    ]
    for (const key of bad) {
      const denial = { code: 'idempotency_key_invalid', status: 400, field: 'idempotency-key' }
      t.match(await begin(write({ key })), denial, JSON.stringify(key))
    }
  },
)

t.test('counts the length after unquoting, bounds included', async t => {
  const { begin } = createIdempotency({ storage: memoryIdempotency(), minKeyLength: 8, maxKeyLength: 10 })
  for (const key of ['12345678', '1234567890', '"87654321"', '"12345\\"\\\\8"']) {
    t.match(await begin(write({ key })), { value: { state: 'started' } }, key)
  }
  const message = 'Idempotency-Key must be 8 to 10 visible ASCII characters, bare or as one quoted string.'
  for (const key of ['1234567', '12345678901'])
    t.match(await begin(write({ key })), { code: 'idempotency_key_invalid', message })
})

/** Whether a key is accepted. */
async function accepts(key: string, max = 255): Promise<boolean> {
  const { begin } = createIdempotency({ storage: memoryIdempotency(), minKeyLength: 1, maxKeyLength: max })
  return (await begin(write({ key }))).ok
}

// The string cases of github.com/httpwg/structured-field-tests (string.json, string-generated.json).
t.test('reads structured-field strings like the test vectors of the HTTP working group', async t => {
  for (const key of ['"foo"', '"f o"', '"foo \\"bar\\""', '"foo \\\\bar"'])
    t.equal(await accepts(key), true, key)
  for (const key of ['"foo', '"foo \\,"', '"foo \\', '"foo "bar""', '"föö"', '"foo\nbar"']) {
    t.equal(await accepts(key), false, key)
  }
  for (let code = 0; code < 128; code++) {
    const char = String.fromCharCode(code)
    const plain = code >= 0x20 && code < 0x7f && char !== '"' && char !== '\\'
    // Spaces only are a valid string, but not a valid key.
    t.equal(await accepts(`" ${char} "`), plain && char !== ' ', `0x${code.toString(16)} in a string`)
    const escapable = char === '"' || char === '\\'
    t.equal(await accepts(`"\\${char}"`), escapable, `0x${code.toString(16)} after a backslash`)
  }
})
