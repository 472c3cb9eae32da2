import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createPrivateFile, replacePrivateFile } from '@gatewright/host/internal/commands'
import { CommandError } from '@gatewright/host/cli'
import { loginFile } from './login-file.ts'

/** What makes two commands the same payment. */
export interface Payment {
  /** The origin of the host. */
  readonly host: string
  /** The paying wallet, or the id of the key if the login has no wallet. */
  readonly from: string
  readonly to: string
  readonly amountCents: number
  readonly memo: string | undefined
}

/** A payment that was begun and whose outcome is not known. */
export interface PendingPayment {
  readonly idempotencyKey: string
  /** When it was begun, in RFC 3339. */
  readonly startedAt: string
}

/**
 * Where a payment is kept until its outcome is known: a file per payment beside the login, readable by its user only. Commands find
 * it by its name, which is a digest of what makes the payment.
 */
function pendingFile(env: NodeJS.ProcessEnv, { host, from, to, amountCents, memo }: Payment): string {
  const parts = [host, from.toLowerCase(), to.toLowerCase(), amountCents, memo ?? null]
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
  return join(dirname(loginFile(env)), 'payments', `${digest}.json`)
}

/** Returns the same payment of an earlier command whose outcome is not known. Throws a `CommandError` if its file is damaged. */
export async function findPending(
  env: NodeJS.ProcessEnv,
  payment: Payment,
): Promise<PendingPayment | undefined> {
  const file = pendingFile(env, payment)
  try {
    const { idempotencyKey, startedAt } = JSON.parse(await readFile(file, 'utf8')) as PendingPayment
    if (typeof idempotencyKey === 'string' && !Number.isNaN(Date.parse(startedAt)))
      return { idempotencyKey, startedAt }
    throw new Error('a member is missing')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CommandError(
      `${file} cannot be read (${(error as Error).message}), so it is not known whether this payment was made before. ` +
        'Look at your transactions; then delete the file',
      'outcome_unknown',
    )
  }
}

/**
 * Keeps a payment before it is sent: the file is on disk, whole, or not there. Of two commands that begin the same payment at once, both
 * get the key of the first, so that it is made once. `replaces` overwrites the payment of an earlier command.
 */
export async function keepPending(
  env: NodeJS.ProcessEnv,
  payment: Payment,
  pending: PendingPayment,
  { replaces }: { readonly replaces: boolean },
): Promise<PendingPayment> {
  const file = pendingFile(env, payment)
  const text = `${JSON.stringify(pending)}\n`
  if (replaces) replacePrivateFile(file, text)
  if (replaces || createPrivateFile(file, text)) return pending
  return (await findPending(env, payment)) ?? keepPending(env, payment, pending, { replaces })
}

/** Forgets a payment whose outcome is known. One that another command has begun since stays. */
export async function forgetPending(
  env: NodeJS.ProcessEnv,
  payment: Payment,
  { idempotencyKey }: PendingPayment,
): Promise<void> {
  const kept = await findPending(env, payment)
  if (kept?.idempotencyKey === idempotencyKey) await rm(pendingFile(env, payment), { force: true })
}
