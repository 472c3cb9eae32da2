import { checkOptions, integerOption, systemClock } from '@gatewright/kernel/internal'
import type { Clock, EpochMs } from '@gatewright/kernel'
import { checkNote, decodeDecision, encodeDecision, type DecisionNote, type RunDecision } from './decision.ts'
import { RETENTION } from './options.ts'
import { labelText } from './request/label.ts'
import { encodeResponse } from './response/encoding.ts'
import { checkEncryption, encrypted, type ResponseEncryption } from './response/encryption.ts'
import { classify, isStoredResponse, type StoredResponse } from './response/stored-response.ts'
import type { IdempotencyStorage, RunRecord } from './storage/port.ts'

/** A run whose outcome is unknown, for the operator who decides about it. */
export interface ListedLostRun {
  /** Identifies the run: the key of its record and its fence. It changes when somebody starts to decide about the run. */
  readonly id: string
  /** The id of the operation. */
  readonly operation: string
  /** Whose run it is, as the team labels accounts. Operation and account are cut after 512 characters. */
  readonly account: string
  /** The id of the run's effect. Clients were given it as `operationId`. */
  readonly effectId: string
  readonly fence: number
  readonly beganAt: EpochMs
  /** When its lease ended; null if the handler's process reported that the outcome is unknown. */
  readonly leaseEndedAt: EpochMs | null
}

/** A page of lost runs. `next` is the `after` of the page after it; undefined on the last one. */
interface LostRunList {
  readonly runs: readonly ListedLostRun[]
  readonly next: string | undefined
}

/** The state of a run, and the latest decision about a lost run of its key. */
export interface DescribedRun extends Omit<ListedLostRun, 'leaseEndedAt'> {
  readonly state: 'running' | 'lost' | 'done' | 'free'
  /** Running: when the lease ends. Lost: when it ended; null if the outcome was reported as unknown. Done, free: when the record expires. */
  readonly until: EpochMs | null
  /** Kept until the record is deleted, also while later runs of the key are recorded. */
  readonly decision: RunDecision | null
}

/** Lists lost runs and decides about them. */
export interface LostRuns {
  /**
   * Lists up to `limit` lost runs (1 to 1000, default 100), those first that began first, of one account if one is given. A run that is
   * lost while all pages are read is listed once. Throws a `TypeError` for an `after` that is not the `next` of a page.
   */
  list(page?: {
    readonly account?: string | undefined
    readonly limit?: number | undefined
    readonly after?: string | undefined
  }): Promise<LostRunList>
  /** Returns the record of the key of a run, which may be of a later run, with the latest decision; undefined if the key has no record. */
  show(id: string): Promise<DescribedRun | undefined>
  /**
   * Decides that a lost run took effect. Retries get `response`, whose status must be final (`classify`) or a `TypeError` is thrown;
   * without one they get 200 with an empty body.
   *
   * Of simultaneous decisions, recoveries and a late completion the first wins. True: this call decided. False: it lost, the
   * run has ended, or the key has a newer run; then nothing was changed. If it throws, the run is lost again when `leaseMs` have passed, at the
   * latest: decide again.
   */
  resolve(
    id: string,
    decision: DecisionNote & { readonly response?: StoredResponse | undefined },
  ): Promise<boolean>
  /** Decides that a lost run had no effect and can have none any more: the next request with its key runs. Otherwise like `resolve`. */
  release(id: string, decision: DecisionNote): Promise<boolean>
}

/** Options of `createLostRuns`. */
export interface LostRunsOptions {
  /** The storage of the hosts. */
  readonly storage: IdempotencyStorage
  /** Default: the machine's clock. */
  readonly clock?: Clock
  /**
   * How long the response of a decision is replayed, and a decision is kept, in ms: give the `retentionMs` of the hosts. 60 000 to
   * 31 536 000 000, default 86 400 000 (24 h).
   */
  readonly retentionMs?: number
  /** How the hosts encrypt stored responses: give the same. Default: they do not. */
  readonly encryption?: ResponseEncryption | undefined
  /** How long a decision may take, in ms, 1000 to 86 400 000, default 60 000. Meanwhile the run counts as running. */
  readonly leaseMs?: number
  /**
   * Ends what the run holds elsewhere, such as its spend hold with the id `effectId`: settle it if the run took effect, release it
   * otherwise. Called after the run was taken over and before the decision is stored, so no other run of the key can hold the same.
   * It may be called again for a run whose decision failed. If it throws, the run is lost again. Default: nothing is held.
   */
  readonly endHolds?: (run: ListedLostRun, outcome: RunDecision['outcome']) => Promise<void>
}

/** What retries get if an operator decided that the run took effect and gave no response. */
const NO_RESPONSE: StoredResponse = { status: 200, headers: [], body: '', bodyOmitted: true }

/** Makes the functions by which operators list and decide lost runs, without the hosts. Throws a `TypeError` for a wrong option. */
export function createLostRuns(options: LostRunsOptions): LostRuns {
  const { clock, retentionMs, leaseMs, endHolds } = checkOptions('createLostRuns', options, {
    storage: { is: 'object' },
    clock: { default: systemClock },
    retentionMs: RETENTION,
    encryption: true,
    leaseMs: { min: 1000, max: 86_400_000, default: 60_000 },
    endHolds: { is: 'function', default: async () => {} },
  })

  checkEncryption('createLostRuns', options.encryption)
  const storage = encrypted(options.storage, options.encryption)

  const decide = async (
    id: string,
    outcome: RunDecision['outcome'],
    note: DecisionNote,
    response: string,
  ): Promise<boolean> => {
    const { by, reason } = note
    const lost = await findRun(storage, id)
    if (!lost) return false
    const now = clock.now()
    const { key } = lost
    const fence = await storage.takeOver(key, lost.fence, now + leaseMs, now)
    if (fence === undefined) return false
    try {
      await endHolds(listed(lost), outcome)
    } catch (error) {
      await storage.end(key, fence, { state: 'lost' }, clock.now())
      throw error
    }
    const at = clock.now()
    const decision = encodeDecision({ outcome, by, reason, at })
    // The fence is a time on the clock of the host that began the run. A slower clock here must not shorten the replays.
    const expiresAt = Math.max(at, fence) + retentionMs
    return outcome === 'took_effect'
      ? storage.end(key, fence, { state: 'done', response, expiresAt, decision }, at)
      : storage.end(key, fence, { state: 'free', expiresAt, decision }, at)
  }

  return {
    async list({ account, limit = 100, after } = {}) {
      integerOption('list: limit', limit, 1, 1000)
      const found = await storage.listLost({
        limit: limit + 1,
        now: clock.now(),
        account: account === undefined ? undefined : labelText(account),
        after: after === undefined ? undefined : parseCursor(after),
      })
      const records = found.slice(0, limit)
      const last = records.at(-1)
      return {
        runs: records.map(listed),
        next: last && found.length > limit ? `${last.beganAt}.${last.key}` : undefined,
      }
    },
    async show(id) {
      const { key } = parseId(id) ?? {}
      const record = key === undefined ? undefined : await storage.find(key)
      return record && described(record, clock.now())
    },
    async resolve(id, { response = NO_RESPONSE, ...note }) {
      checkNote('resolve', note)
      if (!isStoredResponse(response) || classify(response.status) !== 'final')
        throw new TypeError('resolve: the response must have a final status')
      return decide(id, 'took_effect', note, encodeResponse(response))
    },
    async release(id, note) {
      checkNote('release', note)
      return decide(id, 'never_happened', note, '')
    },
  }
}

/** Finds the run of an id. Undefined if the key has another run by now. */
async function findRun(storage: IdempotencyStorage, id: string): Promise<RunRecord | undefined> {
  const named = parseId(id)
  const record = named && (await storage.find(named.key))
  return record?.fence === named?.fence ? record : undefined
}

function listed({ key, operation, account, fingerprint, fence, beganAt, until }: RunRecord): ListedLostRun {
  return {
    id: `${key}.${fence}`,
    operation,
    account,
    effectId: fingerprint,
    fence,
    beganAt,
    leaseEndedAt: until === 0 ? null : until,
  }
}

function described(record: RunRecord, now: EpochMs): DescribedRun {
  const { leaseEndedAt: until, ...run } = listed(record)
  const isLost = record.state === 'running' && record.until <= now
  const decision = record.decision === null ? null : decodeDecision(record.decision)
  return { until, state: isLost ? 'lost' : record.state, decision, ...run }
}

function parseId(id: string): Pick<RunRecord, 'key' | 'fence'> | undefined {
  const [, key, fence] = /^([\w-]{1,64}(?:\.[\w-]{1,64})?)\.(\d{1,15})$/.exec(id) ?? []
  return key === undefined ? undefined : { key, fence: Number(fence) }
}

function parseCursor(after: string): Pick<RunRecord, 'key' | 'beganAt'> {
  const [, beganAt, key] = /^(\d{1,15})\.([\w-]{1,64}(?:\.[\w-]{1,64})?)$/.exec(after) ?? []
  if (key === undefined) throw new TypeError('list: after must be the next of a page')
  return { key, beganAt: Number(beganAt) }
}
