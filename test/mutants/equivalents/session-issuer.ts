import type { Equivalent } from './equivalent.ts'

const SOURCES = 'packages/session-issuer/src'

/** Every change of these lines of a file, for one reason. */
const lines = (file: string, reason: string, ...all: readonly string[]): Equivalent[] =>
  all.map(before => ({ source: `${SOURCES}/${file}`, before, reason }))

/** Some changes of one line of a file, for one reason. */
const changes = (file: string, reason: string, before: string, ...all: readonly string[]): Equivalent[] =>
  all.map(after => ({ source: `${SOURCES}/${file}`, before, after, reason }))

export const SESSION_ISSUER: readonly Equivalent[] = [
  ...changes(
    'keys/authenticate.ts',
    'an instant 1 ms after 1970 is as long ago as 1970',
    'const writeNow = uses.record(record.id, now, record.lastUsedAt ?? 0, rehash);',
    'const writeNow = uses.record(record.id, now, record.lastUsedAt ?? 1, rehash);',
  ),
  ...changes(
    'keys/use-log.ts',
    'an instant 1 ms after 1970 is as long ago as 1970',
    'if (at - storedAt >= MAX_SILENCE_MS && at - (written.get(id) ?? 0) >= MAX_SILENCE_MS)',
    'if (at - storedAt >= MAX_SILENCE_MS && at - (written.get(id) ?? 1) >= MAX_SILENCE_MS)',
  ),
  ...changes(
    'keys/key-quotas.ts',
    'no key was made within 1 ms after 1970, so its creation is later',
    'latest.set(lineageId, Math.max(latest.get(lineageId) ?? 0, lastUsedAt ?? 0, createdAt));',
    'latest.set(lineageId, Math.max(latest.get(lineageId) ?? 1, lastUsedAt ?? 0, createdAt));',
    'latest.set(lineageId, Math.max(latest.get(lineageId) ?? 0, lastUsedAt ?? 1, createdAt));',
  ),
  ...changes(
    'keys/authenticate.ts',
    'the monotonic clock has fractions of a millisecond, so an age is not exactly the bound',
    'const fresh = cached !== undefined && performance.now() - cached.readAt < cacheMs;',
    'const fresh = cached !== undefined && performance.now() - cached.readAt <= cacheMs;',
  ),
  ...lines(
    'keys/use-log.ts',
    'bounds the size of one write: any near number is as good',
    'const BATCH = 100;',
  ),
  ...changes(
    'keys/use-log.ts',
    'bounds memory: what is forgotten is read from the store again',
    'if (written.size > 10_000)',
    'if (written.size >= 10_000)',
    'if (written.size > 10001)',
  ),
  ...lines(
    'keys/use-log.ts',
    'bounds memory: what is forgotten is read from the store again',
    'written.clear();',
  ),
  ...lines(
    'keys/use-log.ts',
    'a timer that is not cleared flushes once more, which the next use does as well',
    'clearTimeout(timer);',
  ),
  ...changes(
    'keys/creators.ts',
    'the first round runs with any size that no set has',
    'for (let sizeBefore = -1; sizeBefore !== created.size;) {',
    'for (let sizeBefore = -2; sizeBefore !== created.size;) {',
  ),
  ...changes(
    'keys/creators.ts',
    'the first key of a chain is a root, which reaches every key without being looked for in the chain',
    'const upToCreator = key.ancestry.slice(0, key.ancestry.indexOf(lineageId) + 1);',
    'const upToCreator = key.ancestry.slice(1, key.ancestry.indexOf(lineageId) + 1);',
  ),
  ...lines(
    'keys/key-text.ts',
    'one more entry reads as a missing one does: its character is no digit',
    'const DIGITS = Int8Array.from({ length: 128 }, (_, code) => BASE62.indexOf(String.fromCharCode(code)));',
  ),
  ...lines(
    'keys/key-text.ts',
    'an index of the table has 8 bits, so no later entry is read',
    'const CRC = Int32Array.from({ length: 256 }, (_, byte) => {',
  ),
  ...changes(
    'keys/key-text.ts',
    'any negative number says that a character is no digit',
    'const digit = DIGITS[text.charCodeAt(at)] ?? -1;',
    'const digit = DIGITS[text.charCodeAt(at)] ?? -2;',
  ),
  ...changes(
    'keys/key-text.ts',
    'any negative number says that a character is no digit',
    'return -1;',
    'return -2;',
  ),
  ...changes(
    'keys/lineage.ts',
    'keys of one lineage that end at one instant were live together, and a change writes the same policies to both',
    'return endOf(b) - endOf(a) || b.createdAt - a.createdAt;',
    'return endOf(b) - endOf(a) || b.createdAt + a.createdAt;',
  ),
  ...lines(
    'keys/list-keys.ts',
    'decides how many policies one read fetches, and not which the page shows',
    'const FIRST_READ = 4;',
    'atOnce *= 2;',
  ),
  ...changes(
    'keys/list-keys.ts',
    'decides how many policies one read fetches, and not which the page shows',
    'if (ids.size >= count)',
    'if (ids.size > count)',
  ),
  ...lines(
    'keys/policies.ts',
    'an estimate of memory: any near number is as good',
    'const MEMORY_PER_BYTE = 4;',
  ),
  ...changes(
    'keys/policies.ts',
    'bounds memory: any near number is as good',
    'const MAX_CACHE_BYTES = 16 * 1024 * 1024;',
    'const MAX_CACHE_BYTES = 17 * 1024 * 1024;',
    'const MAX_CACHE_BYTES = 16 * 1025 * 1024;',
    'const MAX_CACHE_BYTES = 16 * 1024 * 1025;',
  ),
  ...changes(
    'sessions/revoke-account.ts',
    'the decision denies nothing, so the other branch is for the type only',
    'return { keys: revoked.ok ? revoked.value : 0, sessions: await endAccountSessions(accountId) };',
    'return { keys: revoked.ok ? revoked.value : 1, sessions: await endAccountSessions(accountId) };',
  ),
  ...lines(
    'keys/update-account.ts',
    'frees the memory of an account whose changes have all ended',
    'tails.delete(accountId);',
  ),
  ...changes(
    'sessions/issue-session.ts',
    'on Node the function that signs returns no promise',
    'const token = await sign(JSON.stringify({ ...toClaims(session), iss: options.issuer, aud: options.audience }));',
    'const token = sign(JSON.stringify({ ...toClaims(session), iss: options.issuer, aud: options.audience }));',
  ),
  ...lines(
    'sessions/list-sessions.ts',
    'bounds the work of one page: any near number is as good',
    'const SEARCHED = 500;',
  ),
  ...changes(
    'sessions/list-sessions.ts',
    'reads one row more than the one that shows whether there is a next page',
    'const found = await sessions.list(caller.accountId, most + 1, now, after);',
    'const found = await sessions.list(caller.accountId, most + 2, now, after);',
  ),
  ...lines(
    'sessions/manage-sessions.ts',
    'bounds the work of one step: any near number is as good',
    'const BATCH = 500;',
  ),
  ...changes(
    'sessions/manage-sessions.ts',
    'the first step runs with any number but 0',
    'for (let ended = -1; ended !== 0; total += ended) {',
    'for (let ended = -2; ended !== 0; total += ended) {',
  ),
  ...changes(
    'sessions/manage-sessions.ts',
    'saves reading the keys: consoleOf finds no console for these sessions',
    'if (session.ancestry.length > 0 || !(await keys.find(session.keyId))?.console)',
    'if (session.ancestry.length > 1 || !(await keys.find(session.keyId))?.console)',
    'if (session.ancestry.length > 0 && !(await keys.find(session.keyId))?.console)',
  ),
  ...changes(
    'sessions/manage-sessions.ts',
    'nobody reads the verdict of ending a console',
    'return { ok: true, value: undefined };',
    'return { ok: false, value: undefined };',
  ),
  ...lines(
    'signing/key-ring.ts',
    'caches the signers: a missing one is made again, and that of a dropped key is never asked for',
    'if (!set.keys.some(key => key.kid === kid))',
    'signers.delete(kid);',
    'signers.set(key.kid, signer);',
  ),
  ...changes(
    'signing/schedule.ts',
    'of keys that become active at one instant either signs, the same one on every host',
    'return active ? key.activatesAt > to.activatesAt : key.activatesAt < to.activatesAt;',
    'return active ? key.activatesAt >= to.activatesAt : key.activatesAt < to.activatesAt;',
    'return active ? key.activatesAt > to.activatesAt : key.activatesAt <= to.activatesAt;',
  ),
  ...changes(
    'storage/memory.ts',
    'ids differ, and a comparator may return any positive or negative number',
    '.sort((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1))',
    '.sort((one, other) => other.at - one.at || (one.id <= other.id ? 1 : -1))',
    '.sort((one, other) => other.at - one.at || (one.id < other.id ? 2 : -1))',
    '.sort((one, other) => other.at - one.at || (one.id < other.id ? 1 : -2))',
  ),
  ...changes(
    'storage/memory.ts',
    'frees memory: a policy without copies, or with those of an ended lineage alone, is not found either',
    'if (left.length > 0)',
    'if (left.length >= 0)',
  ),
  ...lines(
    'storage/memory.ts',
    'frees memory: the copies of an ended lineage are left out again when the next lineage ends',
    'policies.set(id, left);',
  ),
  ...changes(
    'storage/sql-signing.ts',
    'the parameter is 0 there',
    '? `insert into ${table} (issuer, sealed, revision) values ($1, $2, 1 + $3)',
    '? `insert into ${table} (issuer, sealed, revision) values ($1, $2, 1 - $3)',
  ),
  ...changes(
    'storage/sql-keys.ts',
    'the parameter is 0 there',
    '? `insert into ${accounts} (lane, account, revision) values ($3, $1, 1 + $2)',
    '? `insert into ${accounts} (lane, account, revision) values ($3, $1, 1 - $2)',
  ),
  ...changes(
    'storage/sql-parameters.ts',
    'pads with more of the values that are in the list already',
    'const size = 2 ** Math.ceil(Math.log2(values.length));',
    'const size = 3 ** Math.ceil(Math.log2(values.length));',
  ),
  ...changes(
    'storage/sql-parameters.ts',
    'pads with more, or with others, of the values that are in the list already',
    'return [...values, ...Array(size - values.length).fill(values.at(-1))];',
    'return [...values, ...Array(size + values.length).fill(values.at(-1))];',
    'return [...values, ...Array(size - values.length).fill(values.at(-2))];',
  ),
  ...changes(
    'storage/sql-keys.ts',
    'both branches of the case have the same value there',
    'await rows(tx, `update ${keys} set last_used_at = case when last_used_at > $2 then last_used_at else $2 end,',
    'await rows(tx, `update ${keys} set last_used_at = case when last_used_at >= $2 then last_used_at else $2 end,',
  ),
  ...changes(
    'storage/redis-key-scripts.ts',
    'writes the instant that is stored already',
    "if used == '' or tonumber(used) < tonumber(ARGV[at + 1]) then redis.call('HSET', key, 'used', ARGV[at + 1]) end",
    "if used == '' or tonumber(used) <= tonumber(ARGV[at + 1]) then redis.call('HSET', key, 'used', ARGV[at + 1]) end",
  ),
  ...['live', 'minted'].flatMap(set =>
    changes(
      'storage/redis-session-scripts.ts',
      'sets the time to live that the key has already',
      `if redis.call('PTTL', ${set}) < tonumber(px) then redis.call('PEXPIRE', ${set}, px) end`,
      `if redis.call('PTTL', ${set}) <= tonumber(px) then redis.call('PEXPIRE', ${set}, px) end`,
    ),
  ),
  ...changes(
    'storage/redis-key-scripts.ts',
    'the two values before the ids are a policy and the number of ids, which are ids of no key',
    'for index = at + 1, at + dropped do remove(prefix, ARGV[index]) end',
    'for index = at - 1, at + dropped do remove(prefix, ARGV[index]) end',
  ),
  ...changes(
    'storage/redis-audit.ts',
    'sets the time to live that the key has already',
    "if redis.call('PTTL', key) < tonumber(keep) then redis.call('PEXPIRE', key, keep) end",
    "if redis.call('PTTL', key) <= tonumber(keep) then redis.call('PEXPIRE', key, keep) end",
  ),
  ...changes(
    'storage/redis-session-scripts.ts',
    'at the limit the next round reads no id and ends',
    'until #ids == 0 or count >= tonumber(ARGV[5])',
    'until #ids == 0 or count > tonumber(ARGV[5])',
  ),
  ...changes(
    'storage/redis-session-scripts.ts',
    'at the limit the next rounds add nothing',
    'until #found < 2 * part or #reply >= limit',
    'until #found < 2 * part or #reply > limit',
  ),
  ...changes(
    'storage/redis-session-scripts.ts',
    'the line is reached only where the two bytes differ',
    'if a ~= b then return a < b end',
    'if a ~= b then return a <= b end',
  ),
]
