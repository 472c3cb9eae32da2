import type { Equivalent } from './equivalent.ts'

export const SCOPE_GUARD: readonly Equivalent[] = [
  ...[
    'const CHAIN_BYTES = 3072;',
    'const LIMIT_BYTES = 384;',
    'const ENTRY_BYTES = 88;',
    'let bytes = CHAIN_BYTES + 2 * documentBytes;',
    'const entries = lists.reduce((sum, list = []) => sum + list.length, 0);',
    'const named = limits.reduce((sum, { operations }) => sum + operations.length, 0);',
    'bytes += LIMIT_BYTES * (limits.length + 1) + ENTRY_BYTES * (entries + named);',
  ].map(before => ({
    source: 'packages/scope-guard/src/policies/chain-loader.ts',
    before,
    reason: 'an estimate of memory: any near number is as good',
  })),
  {
    source: 'packages/scope-guard/src/policies/chain-loader.ts',
    before: 'const MAX_SWEPT = 32;',
    reason: 'bounds the work of one call: any near number is as good',
  },
  {
    source: 'packages/scope-guard/src/policies/predicates.ts',
    before: 'const MAX_REMEMBERED = 64;',
    reason: 'bounds memory: any near number is as good',
  },
  {
    source: 'packages/scope-guard/src/policies/predicates.ts',
    before: 'byOperation.set(facts.operation, block);',
    reason: 'remembers what is computed again without it',
  },
  {
    source: 'packages/scope-guard/src/spend/plan.ts',
    before: 'return storage ? { items: caps.items(0, clock.now()) } : caps.firstWithCounter;',
    after: 'return storage ? { items: caps.items(1, clock.now()) } : caps.firstWithCounter;',
    reason: 'the caps of a call that moves no money count calls, and never read the cents',
  },
  {
    source: 'packages/scope-guard/src/policies/caps.ts',
    before: 'if (onNamed.length === 0 && (onAllMoney.length === 0 || kind === undefined))',
    after: 'if (onNamed.length === 0 && (onAllMoney.length === 0 && kind === undefined))',
    reason: 'saves time: without it no cap is selected either',
  },
  ...[
    ['now < entry.keptUntil || left++ === 0)', 'bounds the work of one call'],
    ['now < entry.keptUntil || left-- === 1)', 'bounds the work of one call: any near number is as good'],
  ].map(([end, reason = '']) => ({
    source: 'packages/scope-guard/src/policies/chain-loader.ts',
    before: 'if (entry === undefined || now < entry.keptUntil || left-- === 0)',
    after: `if (entry === undefined || ${end}`,
    reason,
  })),
  {
    source: 'packages/scope-guard/src/policies/chain-loader.ts',
    before: 'const place = { key, chain: size > bytes ? undefined : chain, keptUntil: now + keptMs };',
    after: 'const place = { key, chain: size >= bytes ? undefined : chain, keptUntil: now + keptMs };',
    reason: 'the size is an estimate of memory: any near number is as good',
  },
  ...['cache.calculatedSize * 3 >= bytes', 'cache.calculatedSize * 2 > bytes'].map(condition => ({
    source: 'packages/scope-guard/src/policies/chain-loader.ts',
    before: 'if (cache.calculatedSize * 2 >= bytes)',
    after: `if (${condition})`,
    reason: 'from which size on uses are recorded saves time: no chain is evicted before the cache is full',
  })),
  ...[
    "dot > 0; dot = operation.indexOf('.', dot + 1)",
    "dot >= 1; dot = operation.indexOf('.', dot + 1)",
    "dot >= 0; dot = operation.indexOf('.', dot + 2)",
  ].map(loop => ({
    source: 'packages/scope-guard/src/policies/operation-matcher.ts',
    before: "for (let dot = operation.indexOf('.'); dot >= 0; dot = operation.indexOf('.', dot + 1)) {",
    after: `for (let dot = operation.indexOf('.'); ${loop}) {`,
    reason: 'no operation begins with a dot or has two in a row: rules and policies are checked for that',
  })),
  ...['v.length < 50', 'v.length <= 51'].map(bound => ({
    source: 'packages/scope-guard/src/policies/parse.ts',
    before:
      "const address = must('must be an IP address or a CIDR block', v => typeof v === 'string' && v.length <= 50 && isAddressBlock(v));",
    after: `const address = must('must be an IP address or a CIDR block', v => typeof v === 'string' && ${bound} && isAddressBlock(v));`,
    reason: 'bounds the work: the longest address block has 49 characters',
  })),
  ...['if (byOperation.size === MAX_REMEMBERED)', 'byOperation.clear();'].map(before => ({
    source: 'packages/scope-guard/src/policies/predicates.ts',
    before,
    reason: 'bounds memory: what is forgotten is computed again',
  })),
  {
    source: 'packages/scope-guard/src/rate-limits/failure-budget.ts',
    before: 'const MAX_BUCKETS = 16_384;',
    reason: 'bounds memory: any near number is as good',
  },
  ...['{ left: 0, until: clock.now() + msBeforeNext }', '{ left: left - 1, until }'].map(value => ({
    source: 'packages/scope-guard/src/rate-limits/failure-budget.ts',
    before: `windows.set(bucket, ${value}, { size: 1 });`,
    after: `windows.set(bucket, ${value}, { size: 2 });`,
    reason: 'bounds memory: the size only decides how many buckets are counted',
  })),
  ...['const CONCURRENT_CHECKS = 32;', 'const TURN_MS = 2;', 'const LOW_PRIORITY_TURN_MS = 1;'].map(
    before => ({
      source: 'packages/scope-guard/src/rate-limits/failure-limit.ts',
      before,
      reason: 'bounds the work of one turn: any near number is as good',
    }),
  ),
  {
    source: 'packages/scope-guard/src/rate-limits/window-counter.ts',
    before: 'if (isCurrentWindow(window, now, windowMs) || left-- === 0)',
    after: 'if (isCurrentWindow(window, now, windowMs) || left++ === 0)',
    reason: 'bounds the time of one request: what one leaves, a later one removes',
  },
  {
    source: 'packages/scope-guard/src/rate-limits/limiter.ts',
    before: 'const STORE_MARGIN_MS = 2000;',
    reason: 'a margin for the time that a call takes: any near number is as good',
  },
  {
    source: 'packages/scope-guard/src/rate-limits/limiter.ts',
    before: 'if (performance.now() - requestedAt + marginMs >= msBeforeNext)',
    after: 'if (performance.now() - requestedAt + marginMs > msBeforeNext)',
    reason: 'differs at one instant of a clock with fractions, inside a margin',
  },
  {
    source: 'packages/scope-guard/src/rate-limits/rule-limits.ts',
    before: 'return points.length > 1 ? takeAll(points, rule) : andThen(takeOne(point, rule), resultOfOne);',
    after: 'return points.length >= 1 ? takeAll(points, rule) : andThen(takeOne(point, rule), resultOfOne);',
    reason: 'saves time: several limits and one are decided in the same way',
  },
  ...['const PAGE_ENTRIES = 1000;', 'const FORGET_EVERY_MS = 60_000;'].map(before => ({
    source: 'packages/scope-guard/src/revocation/feed-follower.ts',
    before,
    reason: 'bounds the work of one poll: any near number is as good',
  })),
  {
    source: 'packages/scope-guard/src/revocation/feed-follower.ts',
    before: 'if (started - forgottenAt >= FORGET_EVERY_MS) {',
    after: 'if (started - forgottenAt > FORGET_EVERY_MS) {',
    reason: 'bounds the work of one poll: any near number is as good',
  },
  {
    source: 'packages/scope-guard/src/revocation/feed-follower.ts',
    before: 'let requested = false;',
    reason: 'is set before it is read',
  },
  {
    source: 'packages/scope-guard/src/revocation/known-revocations.ts',
    before:
      'else if (!known.some(({ lane, position }) => lane === entry.lane && position === entry.position))',
    after:
      'else if (!known.every(({ lane, position }) => lane === entry.lane && position === entry.position))',
    reason: 'an entry that is kept twice decides the same',
  },
  {
    source: 'packages/scope-guard/src/revocation/known-revocations.ts',
    before: 'ends: (session, now) => byTarget.size > 0 &&',
    reason: 'saves time: an empty map contains no entry',
  },
  {
    source: 'packages/scope-guard/src/revocation/known-revocations.ts',
    before: 'else if (live.length < known.length)',
    after: 'else if (live.length <= known.length)',
    reason: 'replaces a list by an equal one',
  },
  {
    source: 'packages/scope-guard/src/storage/memory.ts',
    before: 'if (counters.size + holds.size + needed <= capacity)',
    after: 'if (counters.size + holds.size + needed < capacity)',
    reason: 'deletes counters sooner that nobody reads any more',
  },
  {
    source: 'packages/scope-guard/src/storage/redis.ts',
    before: "expiresAt === null ? '' : String(Math.max(expiresAt - now, 0) + GRACE_MS),",
    after: "expiresAt === null ? '' : String(Math.max(expiresAt - now, 1) + GRACE_MS),",
    reason: 'keeps a counter that nobody reads any more for 1 ms longer',
  },
  {
    source: 'packages/scope-guard/src/storage/redis-scripts.ts',
    before:
      "if less > 0 and redis.call('EXISTS', key) == 1 then redis.call('DECRBY', key, string.format('%.0f', less)) end",
    after:
      "if less >= 0 and redis.call('EXISTS', key) == 1 then redis.call('DECRBY', key, string.format('%.0f', less)) end",
    reason: 'subtracts nothing',
  },
  ...[
    'const SETS_PER_SWEEP = 16;',
    'let left = 2 * SETS_PER_SWEEP;',
    'if (++sets % SETS_PER_SWEEP === 0)',
  ].map(before => ({
    source: 'packages/scope-guard/src/token/cache.ts',
    before,
    reason: 'bounds the work of one call: any near number is as good',
  })),
  ...['left++ === 0)', 'left-- === 1)'].map(end => ({
    source: 'packages/scope-guard/src/token/cache.ts',
    before: 'if (value === undefined || now < value.keptUntil || left-- === 0)',
    after: `if (value === undefined || now < value.keptUntil || ${end}`,
    reason: 'bounds the work of one call: any near number is as good',
  })),
  {
    source: 'packages/scope-guard/src/token/cache.ts',
    before: 'let sets = 0;',
    reason: 'decides which of 16 calls removes expired entries: each is as good',
  },
  ...['const ENTRY_BYTES = 1280;', 'const LISTED_BYTES = 96;'].map(before => ({
    source: 'packages/scope-guard/src/token/cache.ts',
    before,
    reason: 'an estimate of memory: any near number is as good',
  })),
  ...['cache.calculatedSize * 3 < bytes', 'cache.calculatedSize * 2 <= bytes'].map(condition => ({
    source: 'packages/scope-guard/src/token/cache.ts',
    before: 'const halfEmpty = cache.calculatedSize * 2 < bytes;',
    after: `const halfEmpty = ${condition};`,
    reason: 'from which size on uses are recorded saves time: no token is evicted before the cache is full',
  })),
  {
    source: 'packages/scope-guard/src/token/cached-keys.ts',
    before: 'if (startedAt < loadedAt)',
    after: 'if (startedAt <= loadedAt)',
    reason: 'the monotonic clock has fractions of a millisecond, so two fetches do not begin at one instant',
  },
  {
    source: 'packages/scope-guard/src/token/compact.ts',
    before: 'const SPARE_BITS = [0, 0, 0b1111, 0b11];',
    after: 'const SPARE_BITS = [0, 1, 0b1111, 0b11];',
    reason: 'a segment of that length is denied before',
  },
  {
    source: 'packages/scope-guard/src/token/compact.ts',
    before: "const second = text.indexOf('.', first + 1);",
    after: "const second = text.indexOf('.', first + 2);",
    reason: 'the pattern denies an empty segment before',
  },
  ...['if (imported.size >= 64)', 'imported.clear();'].map(before => ({
    source: 'packages/scope-guard/src/token/keys.ts',
    before,
    reason: 'bounds memory: what is forgotten is imported again',
  })),
  ...['headers.set(JSON.parse(JSON.stringify(head)), header);', 'if (headers.has(head))'].map(before => ({
    source: 'packages/scope-guard/src/token/verify.ts',
    before,
    reason: 'remembers what is read again without it',
  })),
  {
    source: 'packages/scope-guard/src/token/verify.ts',
    before: 'return now < session.expiresAt ? session : challenges.expired();',
    after: 'return now <= session.expiresAt ? session : challenges.expired();',
    reason: 'the guard compares the instant again before it accepts the session',
  },
  {
    source: 'packages/scope-guard/src/token/verify.ts',
    before: 'if (headers.size >= MAX_HEADERS)',
    reason: 'bounds memory: what is forgotten is read again',
  },
  {
    source: 'packages/scope-guard/src/policies/time-zones.ts',
    before: 'if (now >= begins && now < ends)',
    after: 'if (now > begins && now < ends)',
    reason: 'remembers the day of the last call: at its first instant it is found again',
  },
  {
    source: 'packages/scope-guard/src/policies/restrictions.ts',
    before: 'add(member, JSON.stringify([member, ...[...new Set(listed)].sort()]), 0);',
    after: 'add(member, JSON.stringify([member, ...[...new Set(listed)].sort()]), 1);',
    reason: 'equal lists have the same number, whichever it is',
  },
  {
    source: 'packages/scope-guard/src/spend/alerts.ts',
    before: 'const period = buckets && isRolling(window) ? periodOf(window, buckets.current) : null;',
    after: 'const period = buckets || isRolling(window) ? periodOf(window, buckets.current) : null;',
    reason: 'the counters of rolling windows have buckets, and no others',
  },
  {
    source: 'packages/scope-guard/src/storage/counters.ts',
    before: 'return dot < 0 ? key : key.slice(0, dot);',
    after: 'return dot <= 0 ? key : key.slice(0, dot);',
    reason: 'a key begins with a digest, not with the dot',
  },
]
