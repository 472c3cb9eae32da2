// What an operator reads once about denials and unknown outcomes.
import { readFileSync } from 'node:fs'
import { reasons } from '@gatewright/scope-guard'
import t from 'tap'
import { createHints } from '#packages/http/dist/response/hint.js'

function setUp() {
  const lines: string[] = []
  return { lines, hints: createHints(line => lines.push(line)) }
}

const denial = { code: 'unauthorized', status: 401, reason: 'wrong audience' }

t.test('writes a reason once, with its explanation and its page', async t => {
  const { lines, hints } = setUp()
  const explanation = 'audience: expected https://payments.example, token has https://other'
  for (const operation of ['cards.list', 'cards.create']) hints.denied(operation, { ...denial, explanation })
  t.same(lines, [
    `gatewright: cards.list got 401 unauthorized: wrong audience (${explanation}) https://github.com/gatewright/gatewright/blob/main/docs/401.md#wrong-audience (logged once)`,
  ])
})

t.test('says nothing about a denial without a reason, and links no page for another status', async t => {
  const { lines, hints } = setUp()
  hints.denied(undefined, { code: 'session_expired', status: 401 })
  t.same(lines, [])
  hints.denied(undefined, { code: 'conflict', status: 409, reason: 'the cause' })
  t.same(lines, ['gatewright: a request got 409 conflict: the cause (logged once)'])
})

t.test('a client cannot fill the log', async t => {
  const { lines, hints } = setUp()
  for (let index = 0; index < 1000; index++)
    hints.denied('a.b', { ...denial, explanation: `token has ${index}` })
  t.equal(lines.length, 5)
  for (let index = 0; index < 1000; index++) hints.denied('a.b', { ...denial, reason: `reason ${index}` })
  t.equal(lines.length, 5 + 99, 'at most 100 reasons')
  for (let index = 0; index < 1000; index++) hints.unknownOutcome(`a.b${index}`, 'effect', { text: 'cause' })
  t.equal(lines.length, 5 + 99 + 100, 'unknown outcomes have their own bound')
})

t.test('every reason of scope-guard has its section in docs/401.md', async t => {
  const headings = [...readFileSync('docs/401.md', 'utf8').matchAll(/^### `(.*)`$/gm)].map(
    ([, title = '']) => title,
  )
  const anchors = headings.map(title =>
    title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
  for (const reason of reasons) {
    const { lines, hints } = setUp()
    hints.denied('a.b', { ...denial, reason })
    const [, anchor = ''] = /#(\S+) /.exec(lines[0] ?? '') ?? []
    t.ok(anchors.includes(anchor), reason)
  }
})
