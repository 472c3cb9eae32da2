import type { Equivalent } from './equivalent.ts'

const SOURCES = 'packages/http/src'
const BY_NAME = 'const byName = ({ name: one }, { name: other }) => one < other ? -1 : Number(one > other);'

export const HTTP: readonly Equivalent[] = [
  ...[
    BY_NAME.replace('-1', '-2'),
    BY_NAME.replace('one > other', 'one >= other'),
    BY_NAME.replace('one > other', 'one <= other'),
  ].map(after => ({
    source: `${SOURCES}/idempotency/write-facts.ts`,
    before: BY_NAME,
    after,
    reason: 'the sort of V8 asks only whether one item comes before another',
  })),
  {
    source: `${SOURCES}/bindings/fastify-reply.ts`,
    before: 'if (missing.length > 0)',
    after: 'if (missing.length >= 0)',
    reason: 'sets the links again that the reply has',
  },
  {
    source: `${SOURCES}/route/request-context.ts`,
    before: 'if (Object.keys(headers).length > 0)',
    after: 'if (Object.keys(headers).length >= 0)',
    reason: 'with no translated field each is read as before',
  },
]
