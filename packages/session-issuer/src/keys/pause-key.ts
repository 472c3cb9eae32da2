import type { EpochMs, Verdict } from '@gatewright/kernel'
import { actorOf, keyNotes } from '../audit.ts'
import { deny, type IssuerDenial } from '../codes.ts'
import { isLive, toApiKey } from '../key.ts'
import type { CheckedOptions } from '../options.ts'
import type { ApiKey, KeyPause, KeyRecord } from '../storage/port.ts'
import {
  findActiveCaller,
  isRoot,
  outsideAuthority,
  relationOf,
  staleCredential,
  type ActiveCaller,
  type IssuerCaller,
} from './authority.ts'
import { keyNotFound, raiseVersions, type Decision, type UpdateAccount } from './update-account.ts'

/** The denial for a key that is paused, and for its sessions. */
export const keyPaused: IssuerDenial = deny(
  'policy_blocked',
  'this API key is paused: until it is resumed, it and the keys below it do nothing',
  { details: { rule: 'key_paused' } },
)

const resumedAbove = deny('policy_blocked', 'a key above this one is paused: resume that one', {
  details: { rule: 'key_paused' },
})

const resumedByOperator = deny(
  'policy_blocked',
  'an operator has paused this key, and only an operator resumes it',
  {
    details: { rule: 'key_paused' },
  },
)

/** Makes the methods that pause and resume keys. */
export function makePauseKeys(
  { keys: storage }: Pick<CheckedOptions, 'keys'>,
  updateAccount: UpdateAccount,
): {
  pauseKey(caller: IssuerCaller, keyId: string): Promise<Verdict<ApiKey, IssuerDenial>>
  resumeKey(caller: IssuerCaller, keyId: string): Promise<Verdict<ApiKey, IssuerDenial>>
} {
  /** Finds the live key for a caller that may see it, and decides. */
  const update = async (
    caller: IssuerCaller,
    keyId: string,
    decide: (found: FoundKey) => Decision<ApiKey>,
  ): Promise<Verdict<ApiKey, IssuerDenial>> => {
    const accountId = caller === 'operator' ? (await storage.find(keyId))?.accountId : caller.accountId
    if (accountId === undefined) return keyNotFound
    return updateAccount(accountId, (keys, now): Decision<ApiKey> => {
      const active = caller === 'operator' ? undefined : findActiveCaller(caller, keys, now)
      if (caller !== 'operator' && !active) return staleCredential
      const target = keys.find(key => key.id === keyId && isLive(key, now))
      if (!target) return keyNotFound
      if (active && !isRoot(active.key) && relationOf(target, active) === 'other') return keyNotFound
      // The key of a console ends with its session, which can be ended.
      if (target.console) return outsideAuthority
      return decide({ target, active, keys, now })
    })
  }

  return {
    pauseKey: (caller, keyId) =>
      update(caller, keyId, ({ target, keys, now }) => {
        const by = caller === 'operator' ? 'operator' : 'owner'
        const own = ownPause(target)
        if (own?.by === 'operator' || own?.by === by) return { ok: true, value: toApiKey(target) }
        const pause: KeyPause = { lineageId: target.lineageId, by, at: now }
        const paused = tree(keys, target, now).map(key => withPause(key, target, pause))
        const write = raiseVersions(paused, now)
        const notes = keyNotes('key.pause', [target])
        const value = toApiKey(write.keys.find(key => key.id === keyId) as KeyRecord)
        return { ok: true, value, write: { ...write, by: actorOf(caller), notes } }
      }),
    resumeKey: (caller, keyId) =>
      update(caller, keyId, ({ target, active, keys, now }) => {
        if (active && !active.key.console && relationOf(target, active) !== 'below') return outsideAuthority
        const own = ownPause(target)
        if (!own) return target.pauses.length > 0 ? resumedAbove : { ok: true, value: toApiKey(target) }
        if (active && own.by === 'operator') return resumedByOperator
        const resumed = tree(keys, target, now).map(key => withPause(key, target, undefined))
        const notes = keyNotes('key.resume', [target])
        const value = toApiKey(resumed.find(key => key.id === keyId) as KeyRecord)
        // No session is live, so none has to end.
        return {
          ok: true,
          value,
          write: { keys: resumed, policies: [], feed: [], by: actorOf(caller), notes },
        }
      }),
  }
}

/** A live key, all keys of its account, and who asks; undefined: the operator. */
interface FoundKey {
  readonly target: KeyRecord
  readonly active: ActiveCaller | undefined
  readonly keys: readonly KeyRecord[]
  readonly now: EpochMs
}

/** The pause of the key itself, not of one above it. */
const ownPause = ({ pauses, lineageId }: KeyRecord): KeyPause | undefined =>
  pauses.find(pause => pause.lineageId === lineageId)

/** The live keys of a lineage and below it. */
const tree = (keys: readonly KeyRecord[], { lineageId }: KeyRecord, now: EpochMs): readonly KeyRecord[] =>
  keys.filter(key => isLive(key, now) && [key.lineageId, ...key.ancestry].includes(lineageId))

/** Replaces the pause that a key has because of `target`. */
function withPause(key: KeyRecord, { lineageId }: KeyRecord, pause: KeyPause | undefined): KeyRecord {
  const others = key.pauses.filter(each => each.lineageId !== lineageId)
  return { ...key, pauses: pause ? [...others, pause] : others }
}
