import { randomUUID } from 'node:crypto'
import { money } from '@gatewright/host/internal'
import { type CommandArguments, CommandError, type StartCommand, UsageError } from '@gatewright/host/cli'
import { dollarsArgument } from '../../modules/command-arguments.ts'
import { call, sessionOf } from './host-client.ts'
import { MAX_CENTS } from './key-policy.ts'
import { type Login, readLogin } from './login-file.ts'
import {
  findPending,
  forgetPending,
  keepPending,
  type Payment,
  type PendingPayment,
} from './pending-payment.ts'

/** Hosts know an idempotency key for 24 hours. An hour less, since clocks differ. */
const KEY_LIVES_MS = 23 * 3_600_000

/** Codes of errors after which the payment may have been made, or may still be. `failed`: a response that no host wrote. */
const UNKNOWN = new Set(['no_answer', 'failed', 'request_in_progress', 'outcome_unknown'])

function paymentOf({ positional: [to = '', amount = ''], options }: CommandArguments) {
  if (!/^0x[0-9a-fA-F]{40}$/.test(to))
    throw new UsageError(`WALLET must be 0x and 40 hex digits, got ${JSON.stringify(to)}`)
  return { to, amountCents: dollarsArgument('AMOUNT', amount, MAX_CENTS), memo: options['memo'] }
}

/** Pays another wallet user once, also when the host does not answer and the command is repeated. */
export const payCommand: StartCommand = {
  name: 'pay',
  takes: ['WALLET', 'AMOUNT'],
  options: {
    memo: 'what the receiver reads',
    'idempotency-key':
      'pays at most once with this key; default: a new key, which is kept and used again until the outcome is known',
  },
  summary: 'Pay another wallet user of the host. AMOUNT is in US dollars, such as 12.50',
  example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8 12.50 --memo Lunch',
  asks: true,
  check: paymentOf,
  async start({ env, args, confirm, progress }) {
    const { to, amountCents, memo } = paymentOf(args)
    const login = await readLogin(env)
    const payment = { host: login.host, from: login.walletAddress ?? login.keyId, to, amountCents, memo }
    const about = `${money(amountCents)} to ${to} at ${login.host}`
    const earlier = await findPending(env, payment)
    const wanted = args.options['idempotency-key']
    const isRepetition =
      earlier !== undefined && (wanted ?? earlier.idempotencyKey) === earlier.idempotencyKey
    if (isRepetition) {
      assertKnownToHost(earlier, about)
      progress(
        `Repeats the payment of ${earlier.startedAt}, whose outcome is not known: it is made at most once.`,
      )
    }
    await confirm(`Pay ${about}. It cannot be taken back.`)
    const session = await sessionOf(login)
    const began = { idempotencyKey: wanted ?? randomUUID(), startedAt: new Date().toISOString() }
    // The earlier one also if another command has completed it since: that payment is not made again.
    const own = isRepetition ? earlier : began
    const pending = await keepPending(env, payment, own, { replaces: wanted !== undefined })
    const isFirst = pending === began
    // Again: the person may have confirmed hours later.
    if (!isFirst) assertKnownToHost(pending, about)
    const made = await send(login, session, payment, pending).catch(async (error: unknown) => {
      if (!(error instanceof CommandError)) throw error
      const isUnknown = UNKNOWN.has(error.code)
      if (isUnknown) {
        // A command that made the same payment at once may have forgotten it, and the next one is to find it.
        if (!(await findPending(env, payment))) await keepPending(env, payment, pending, { replaces: false })
        throw new CommandError(`${error.message}\n${unknownText(about)}`, 'outcome_unknown')
      }
      // The denial of a repetition does not say whether the earlier request took effect.
      if (!isFirst) throw new CommandError(`${error.message}\n${earlierText(pending)}`, error.code)
      await forgetPending(env, payment, pending)
      throw error
    })
    await forgetPending(env, payment, pending)
    return { data: made, lines: [`Paid ${money(amountCents)} to ${to}: ${String(made['id'])}.`] }
  },
}

/** Throws for a payment whose key the host may have forgotten: with this key it could be made again. */
function assertKnownToHost({ startedAt }: PendingPayment, about: string): void {
  const ageMs = Date.now() - Date.parse(startedAt)
  if (ageMs >= 0 && ageMs < KEY_LIVES_MS) return
  throw new CommandError(
    `An earlier command began at ${startedAt} to pay ${about} and got no answer. Hosts know a payment by its key for a day only, ` +
      'so repeating it could pay twice.\nLook at your transactions. To make a new payment, add --idempotency-key with a new key',
    'outcome_unknown',
  )
}

const unknownText = (about: string): string =>
  `Whether ${about} was paid is not known. Run the same command again within a day: it asks the host again and pays at most once.`

const earlierText = ({ startedAt }: PendingPayment): string =>
  `This was a repetition: an earlier command began the payment at ${startedAt} and got no answer, so it may have been made. Look at your transactions.`

async function send(
  { host }: Login,
  session: Readonly<Record<string, string>>,
  { to, amountCents, memo }: Payment,
  { idempotencyKey }: PendingPayment,
): Promise<Readonly<Record<string, unknown>>> {
  const { data } = await call(host, '/user/v1/payments', {
    headers: { ...session, 'idempotency-key': idempotencyKey },
    body: { to: { walletAddress: to }, amountCents, ...(memo === undefined ? {} : { memo }) },
  })
  const payment = data['payment'] as Readonly<Record<string, unknown>> | undefined
  if (typeof payment?.['id'] === 'string') return payment
  throw new CommandError(`${host} answers without a payment`, 'no_answer')
}
