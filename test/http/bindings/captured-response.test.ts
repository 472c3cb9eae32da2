import { Readable } from 'node:stream'
import t from 'tap'
import {
  addedFields,
  capturedResponse,
  fieldPairs,
  isStream,
  streamError,
} from '#packages/http/dist/bindings/captured-response.js'

t.test('stores a body of up to the limit in bytes, and only status and fields of a larger one', async t => {
  const headers = [['a', 'b']] as const
  const omitted = { status: 201, headers, body: '', bodyOmitted: true }
  for (const [body, limit, stored] of [
    ['', 0, { status: 201, headers, body: '' }],
    ['éé', 4, { status: 201, headers, body: 'éé' }],
    ['éé', 3, omitted],
    [Buffer.from('éé'), 4, { status: 201, headers, body: 'éé' }],
    [Buffer.from('éé'), 3, omitted],
    [Buffer.from('\ufeffa'), 9, { status: 201, headers, body: '\ufeffa' }],
    [Buffer.from([0xff]), 9, omitted],
  ] as const)
    t.strictSame(capturedResponse(201, headers, body, limit), stored)
})

t.test('stores each value of a field, and no field of one message or one client', async t => {
  const headers = { a: 'b', n: 1, list: ['x', 'y'], none: undefined, nothing: null, zero: 0, empty: '' }
  t.same(fieldPairs(headers), [
    ['a', 'b'],
    ['n', '1'],
    ['list', 'x'],
    ['list', 'y'],
    ['zero', '0'],
    ['empty', ''],
  ])
  for (const name of [
    'connection',
    'Content-Length',
    'date',
    'ETag',
    'keep-alive',
    'Set-Cookie',
    'transfer-encoding',
  ])
    t.same(fieldPairs({ [name]: 'a' }), [], name)
  for (const name of ['content-type', 'x-date', 'dates']) t.same(fieldPairs({ [name]: 'a' }), [[name, 'a']])
})

t.test('returns the fields that the end of a run added', async t => {
  const captured = { status: 200, headers: [['Location', '/a']] as const, body: '' }
  const ended = { ...captured, headers: [['location', '/b'], ['Expires', 'c'], ...captured.headers] as const }
  t.same(addedFields(captured, ended), [['Expires', 'c']])
})

t.test('recognizes streams of Node and of the web, and names them', async t => {
  for (const stream of [
    Readable.from(['a']),
    new ReadableStream(),
    { pipe: () => {} },
    { getReader: () => {} },
  ])
    t.equal(isStream(stream), true)
  for (const value of [undefined, null, 'pipe', 1, {}, [], { pipe: true, getReader: 'a' }, () => {}])
    t.equal(isStream(value), false)
  t.match(streamError('a.b', new ReadableStream()).message, /^a\.b returned a stream \(ReadableStream\): /)
  t.match(streamError('a.b', Object.create(null) as object).message, /^a\.b returned a stream \(object\): /)
})
