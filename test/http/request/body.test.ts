import { once } from 'node:events'
import { createServer, IncomingMessage } from 'node:http'
import { connect, Socket, type AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { parseJsonObject } from '@gatewright/http'
import { readRawBody } from '@gatewright/http/node'
import t from 'tap'

type Outcome = Awaited<ReturnType<typeof readRawBody>>

/** Serves one request over a real socket and returns what reading its body gave. */
async function read(send: (port: number) => void, limitBytes = 100): Promise<Outcome> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const outcome = new Promise<Outcome>((resolve, reject) => {
    server.once('request', (request: IncomingMessage, response) => {
      readRawBody(request, limitBytes)
        .then(resolve, reject)
        .finally(() => response.end())
    })
  })
  send((server.address() as AddressInfo).port)
  try {
    return await outcome
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** A body that is no request of a server: a framework may read it from elsewhere. It stays open without chunks. */
function bodyOf(chunks: readonly string[], length?: string) {
  const stream = new Readable({ read: () => undefined })
  for (const chunk of chunks) stream.push(chunk)
  if (chunks.length > 0) stream.push(null)
  return Object.assign(stream, { headers: length === undefined ? {} : { 'content-length': length } })
}

const post =
  (head: string, body: string | Buffer, end = false) =>
  (port: number): void => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`)
      socket.write(body)
      if (end) socket.end()
    })
    socket.on('error', () => {})
  }

t.test('reads the bytes as they were sent', async t => {
  const bytes = Buffer.from([0, 255, 10, 13])
  const outcome = await read(post('Content-Length: 4', bytes))
  t.ok(outcome.ok && Buffer.compare(Buffer.from(outcome.value), bytes) === 0)
  const chunked = await read(post('Transfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'))
  t.ok(chunked.ok && Buffer.from(chunked.value).toString() === '{}')
})

t.test(
  'denies a body above the limit, with and without content-length, and accepts one at the limit',
  async t => {
    t.match(await read(post('Content-Length: 101', 'x'.repeat(101))), {
      code: 'payload_too_large',
      status: 413,
    })
    const chunk = `65\r\n${'x'.repeat(101)}\r\n0\r\n\r\n`
    t.match(await read(post('Transfer-Encoding: chunked', chunk)), { code: 'payload_too_large' })
    t.ok((await read(post('Content-Length: 100', 'x'.repeat(100)))).ok)
  },
)

t.test('denies a body that ends early', async t => {
  t.match(await read(post('Content-Length: 10', 'abc', true)), { code: 'invalid_request', field: 'body' })
})

t.test('denies a body whose client is gone, before and while it is read', async t => {
  const cut = { code: 'invalid_request', field: 'body' }
  const reset = (port: number): void => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n')
      setImmediate(() => socket.resetAndDestroy())
    })
    socket.on('error', () => {})
  }
  t.match(await read(reset), cut)
  const stream = bodyOf(['abc'])
  stream.destroy()
  t.match(await readRawBody(stream, 100), cut)
  const closed = bodyOf([])
  closed.push('ab')
  const outcome = readRawBody(closed, 100)
  closed.destroy()
  t.match(await outcome, cut)
})

t.test('removes its listeners, and discards the rest of a body that is too large', async t => {
  for (const [chunks, code] of [
    [['abc'], undefined],
    [['abc', 'x'.repeat(100), 'rest'], 'payload_too_large'],
  ] as const) {
    const stream = bodyOf(chunks)
    const outcome = await readRawBody(stream, 100)
    t.equal(outcome.ok ? undefined : outcome.code, code)
    if (!stream.closed) await once(stream, 'close')
    for (const event of ['data', 'aborted', 'error']) t.equal(stream.listenerCount(event), 0, event)
  }
})

t.test('compares the length with Content-Length', async t => {
  t.match(await readRawBody(bodyOf(['abc'], '4'), 100), { code: 'invalid_request' })
  t.match(await readRawBody(bodyOf(['abc'], '3'), 100), { ok: true })
})

t.test('rejects text, and passes on the error of a stream that fails', async t => {
  const text = bodyOf(['abc'])
  text.setEncoding('utf8')
  await t.rejects(readRawBody(text, 100), { name: 'TypeError', message: /setEncoding/ })
  const objects = Object.assign(Readable.from(['abc']), { headers: {} })
  await t.rejects(readRawBody(objects, 100), { name: 'TypeError' })
  const failing = bodyOf([])
  const outcome = readRawBody(failing, 100)
  failing.destroy(new Error('disk'))
  await t.rejects(outcome, { message: 'disk' })
})

t.test('reads one JSON object in UTF-8, and an empty body as an empty object', async t => {
  const parse = (text: string, type?: string): unknown => parseJsonObject(Buffer.from(text), type)
  t.match(parse('{"a":1}', 'application/json'), { ok: true, value: { a: 1 } })
  t.match(parse('{"a":1}', 'application/JSON; charset=UTF-8'), { ok: true })
  t.match(parse('{"a":1}', 'application/merge-patch+json'), { ok: true })
  t.match(parse('', undefined), { ok: true, value: {} })
  for (const type of [
    undefined,
    '',
    'text/plain',
    'application/jsonp',
    'application/json; charset=latin1',
    ';',
  ]) {
    t.match(parse('{}', type), { ok: false, code: 'unsupported_media_type' }, String(type))
  }
  for (const text of ['{', '[]', 'null', '1', '"a"', '\ufeff{}', 'true']) {
    t.match(parse(text, 'application/json'), { ok: false, code: 'invalid_request', field: 'body' }, text)
  }
  t.match(parseJsonObject(Buffer.from([0x22, 0xff, 0x22]), 'application/json'), { code: 'invalid_request' })
})

const json = (text: string): ReturnType<typeof parseJsonObject> =>
  parseJsonObject(Buffer.from(text), 'application/json')
const nested = (levels: number, [open, close]: readonly [string, string]): string =>
  `{"a":${open.repeat(levels - 1)}1${close.repeat(levels - 1)}}`

t.test('denies JSON with more than 32 levels of nesting, including the object itself', async t => {
  for (const pair of [
    ['[', ']'],
    ['{"b":', '}'],
    ['[{"b":', '}]'],
  ] as const) {
    const each = pair[0].startsWith('[{') ? 2 : 1
    t.match(json(nested(1 + 30 / each, pair)), { ok: true }, pair[0])
    t.match(json(nested(1 + 32 / each, pair)), { ok: false, code: 'invalid_request', field: 'a' }, pair[0])
  }
  t.match(json(nested(32, ['[', ']'])), { ok: true })
  t.match(json(nested(33, ['[', ']'])), { ok: false, code: 'invalid_request', field: 'a' })
  t.match(json(nested(100_000, ['[', ']'])), { ok: false, code: 'invalid_request', field: 'a' })
  t.match(json(`{"a":${JSON.stringify('['.repeat(1000))}}`), { ok: true }, 'brackets within a text')
  const wide = JSON.stringify({ a: Array.from({ length: 10_000 }, (_, n) => [n]) })
  t.match(json(wide), { ok: true }, 'many beside one another')
})

t.test(
  'denies NUL and lone surrogates in strings and member names, at any depth, and names the member',
  async t => {
    const badTexts = ['\\u0000', '\\ud83d', '\\uD83D!', '\\ude00', '\\ude00\\ud83d', 'a\\ud83d\\ud83d\\ude00']
    for (const bad of badTexts) {
      const denial = { ok: false, status: 400, code: 'invalid_request' }
      t.match(json(`{"note":"${bad}"}`), { ...denial, field: 'note' }, bad)
      t.match(json(`{"note":[1,{"x":["${bad}"]}]}`), { ...denial, field: 'note' }, bad)
      t.match(json(`{"note":{"${bad}":1}}`), { ...denial, field: 'note' }, bad)
      t.match(json(`{"${bad}":1}`), { ...denial, field: 'body' }, bad)
    }
    const long = 'k'.repeat(10_000)
    t.match(json(`{"${long}":"\\u0000"}`), { ok: false, field: 'body' }, 'a response repeats no long name')
    for (const good of [
      '\\ud83d\\ude00',
      '\\ufffd',
      '\\u0001',
      '\\ufeff',
      '\\u202e',
      'e\\u0301',
      '\\\\ud83d',
      '😀',
    ]) {
      const text = `{"note":["${good}"],"${good}":1}`
      t.same(json(text), { ok: true, value: JSON.parse(text) }, good)
    }
  },
)

t.test('keeps a member named __proto__ as data, and the last value of a repeated member', async t => {
  const parsed = json('{"__proto__":{"admin":true},"a":1,"a":2}')
  t.ok(parsed.ok)
  if (!parsed.ok) return
  t.same(Object.keys(parsed.value), ['__proto__', 'a'])
  t.equal(parsed.value['admin'], undefined)
  t.equal(parsed.value['a'], 2)
})

/** A request as adapters of serverless platforms make it from an event: its body is there, and nobody has read it. */
function adapted(body: string, more: object, begin: (request: IncomingMessage) => void): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  const read = (): void => {
    request.push(body)
    request.push(null)
  }
  Object.defineProperty(request, '_read', { value: read, writable: true })
  begin(request)
  return Object.assign(request, { headers: { 'content-length': String(body.length) }, ...more })
}

t.test('reads a request of a serverless adapter, which says that it is not readable', async t => {
  const pushed = (request: IncomingMessage): void => {
    Object.defineProperty(request, '_read', { value: () => {} })
    request.push('{}')
    request.push(null)
  }
  const flags = [{}, { readable: false }, { complete: true }, { readable: false, complete: true }]
  for (const begin of [() => {}, pushed])
    for (const more of flags) {
      const outcome = await readRawBody(adapted('{}', more, begin), 100)
      t.ok(outcome.ok && Buffer.from(outcome.value).toString() === '{}', JSON.stringify(more))
    }
  t.match(
    await readRawBody(
      adapted('x'.repeat(101), { readable: false }, () => {}),
      100,
    ),
    {
      code: 'payload_too_large',
    },
  )
  const read = adapted('{}', { readable: false, complete: true }, () => {})
  await readRawBody(read, 100)
  t.match(await readRawBody(read, 100), { code: 'invalid_request' }, 'it was read before')
  const gone = adapted('{}', { readable: false }, request => void request.destroy())
  t.match(await readRawBody(gone, 100), { code: 'invalid_request' }, 'its client is gone')
})
