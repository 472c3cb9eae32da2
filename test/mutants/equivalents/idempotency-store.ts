import type { Equivalent } from './equivalent.ts'

const SOURCES = 'packages/idempotency-store/src'

export const IDEMPOTENCY_STORE: readonly Equivalent[] = [
  {
    source: `${SOURCES}/execution/waiting-places.ts`,
    before: 'byAccount.delete(account);',
    reason: 'an entry without places takes memory, and is never the largest',
  },
  {
    source: `${SOURCES}/request/fingerprint.ts`,
    before: 'const bytes = allocateBytes(3 * head.length + payload.length);',
    after: 'const bytes = allocateBytes(4 * head.length + payload.length);',
    reason: 'the buffer is larger than what is written into it, and only that is hashed',
  },
  ...['if (end <= 0)', 'if (end < 1)'].map(after => ({
    source: `${SOURCES}/response/encoding.ts`,
    before: 'if (end < 0)',
    after,
    reason: 'a text whose first line is empty is also malformed without this check',
  })),
  {
    source: 'packages/kernel/src/batching.ts',
    before: 'stalledMs: 0,',
    reason: 'without a limit of commands in flight, no call waits and nothing is measured',
  },
  {
    source: 'packages/kernel/src/batching.ts',
    before: 'let endedCommands = 0;',
    reason: 'a counter whose values are compared with each other only',
  },
  {
    source: 'packages/kernel/src/batching.ts',
    before: 'endedCommands++;',
    after: 'endedCommands--;',
    reason: 'a counter whose values are compared with each other only',
  },
  {
    source: 'packages/kernel/src/batching.ts',
    before: 'watching = true;',
    reason: 'a further timer finds the same; it costs work only',
  },
  {
    source: `${SOURCES}/storage/postgres-batching.ts`,
    before: 'const STALLED_MS = 1000;',
    reason: 'how long calls wait before they are sent one by one: any near number is as good',
  },
  {
    source: `${SOURCES}/storage/postgres-batching.ts`,
    before: 'return (values[4]?.length ?? 0) > LONGEST_BATCHED ? single.end(values) : end(values);',
    after: 'return (values[4]?.length ?? 1) > LONGEST_BATCHED ? single.end(values) : end(values);',
    reason: 'both are shorter than what is batched',
  },
  {
    source: `${SOURCES}/storage/redis-record.ts`,
    before: 'const ttlMs = Math.max(expiresAt - now, 0) + GRACE_MS;',
    after: 'const ttlMs = Math.max(expiresAt - now, 1) + GRACE_MS;',
    reason: 'how long an expired record takes memory: a millisecond more is as good',
  },
  {
    source: `${SOURCES}/storage/redis-scripts.ts`,
    before: "replies[i] = ran and reply or '!' .. (type(reply) == 'table' and reply.err or reply)",
    reason:
      'the version of the server decides whether an error is a table or a text; the tests have one version',
  },
  {
    source: `${SOURCES}/request/label.ts`,
    before: 'const LONGEST = 512;',
    reason: 'bounds what is stored: any near number is as good',
  },
  {
    source: `${SOURCES}/response/encryption.ts`,
    before: 'ciphers.set(encryption, cipher);',
    reason: 'remembers what is made again without it',
  },
  {
    source: `${SOURCES}/response/encryption.ts`,
    before: "return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(opened);",
    after: "return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(opened);",
    reason: 'a stored response begins with its status',
  },
  {
    source: `${SOURCES}/storage/memory.ts`,
    before: '.sort((one, other) => (isAfter(one, other) ? 1 : -1))',
    after: '.sort((one, other) => (isAfter(one, other) ? 1 : -2))',
    reason: 'an order has a sign, and no size',
  },
  {
    source: `${SOURCES}/storage/redis-lost-runs.ts`,
    before: 'const CHUNK = 200;',
    reason: 'how much one call reads: any near number is as good',
  },
]
