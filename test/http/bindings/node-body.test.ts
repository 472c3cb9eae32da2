// The bytes of a body, however they were read.
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { bodyReader, hasBody, parsedBytes } from '#packages/http/dist/bindings/node-body.js'

type Access = Parameters<typeof bodyReader>[2]

/** A request with these header fields and this body. */
function request(headers: Record<string, string>, body = ''): IncomingMessage {
  const made = new IncomingMessage(new Socket())
  made.headers = headers
  if (body !== '') made.push(body)
  made.push(null)
  return made
}
const json = { 'content-type': 'application/json', 'content-length': '2' }
const form = { 'content-type': 'text/plain', 'content-length': '2' }
const text = (read: unknown): unknown => {
  const { ok, value, code } = read as { ok: boolean; value: Uint8Array; code: string }
  return ok ? Buffer.from(value).toString() : code
}

t.test('a request has a body if it says so by a length, an encoding or an open stream', async t => {
  for (const [headers, stream, has] of [
    [{}, undefined, false],
    [{ 'content-length': '0' }, undefined, false],
    [{ 'content-length': '1' }, undefined, true],
    [{ 'transfer-encoding': 'chunked' }, undefined, true],
    [{ 'transfer-encoding': 'chunked', 'content-length': '0' }, undefined, true],
    [{}, { endAfterHeaders: false }, true],
    [{}, { endAfterHeaders: true }, false],
    [{}, {}, false],
  ] as const)
    t.equal(hasBody({ headers, stream } as never), has, JSON.stringify([headers, stream]))
})

t.test('serializes what a parser has read, and nothing for a body that is missing', async t => {
  for (const [parsed, headers, expected] of [
    [{ a: 1 }, json, '{"a":1}'],
    [[], json, '[]'],
    [{}, json, '{}'],
    [null, json, 'null'],
    [null, {}, ''],
    [undefined, {}, ''],
    [{}, {}, '{}'],
    [[], form, '[]'],
    [7, form, '7'],
    ['', form, '""'],
    [{}, form, 'unsupported_media_type'],
    [null, form, 'unsupported_media_type'],
    [undefined, form, 'unsupported_media_type'],
  ] as const)
    t.equal(
      text(parsedBytes(parsed, request(headers), 'a parser')),
      expected,
      JSON.stringify([parsed, headers]),
    )
  t.throws(
    () => parsedBytes(undefined, request(json), 'a parser'),
    /no parser has read this request: mount a parser/,
  )
})

t.test('reads a stream for an existing handler, which gets the parsed object', async t => {
  const assigned: unknown[] = []
  const access: Access = {
    node: made => made as never,
    kept: () => Buffer.from('{"kept":1}'),
    keeping: '',
    parser: '',
    hasParser: () => false,
    parsed: () => ({ parsed: 1 }),
    assign: (_request, value) => void assigned.push(value),
  }
  const read = async (body: 'stream' | 'kept' | 'parsed', sent: string, limit = 100): Promise<unknown> =>
    text(
      await bodyReader(body, { bodyLimitBytes: limit, hints: {} as never }, access).forHandler(
        request({ ...json, 'content-length': `${sent.length}` }, sent),
      ),
    )
  t.equal(await read('stream', '{"a":1}'), '{"a":1}')
  t.same(assigned, [{ a: 1 }])
  t.equal(await read('stream', '{"a":1}', 7), '{"a":1}', 'exactly at the limit')
  assigned.length = 0
  t.equal(await read('stream', '{"a":1}', 6), 'payload_too_large')
  t.equal(await read('stream', '{'), 'invalid_request')
  t.equal(await read('kept', '{"a":1}'), '{"kept":1}')
  t.equal(await read('parsed', '{"a":1}'), '{"parsed":1}')
  t.same(assigned, [], 'no parser runs twice')
  const ended = request(json, '{}')
  ended.resume()
  await new Promise(resolve => ended.once('end', resolve))
  await t.rejects(
    bodyReader('stream', { bodyLimitBytes: 9, hints: {} as never }, access).bytes(ended),
    /another parser has read this request/,
  )
})
