import { Fault } from '@gatewright/kernel'
import { limited, type CallOptions } from './calls.ts'
import { validateAssets, validateQuoteReply, type Catalogue, type ReplyCheck } from './catalogue.ts'
import { validateDepositReport, validateOpenReply, type DepositProvider } from './deposits.ts'
import { validateSendReply, validateWithdrawalReport, type WithdrawalProvider } from './withdrawals.ts'

type Call = <T>(
  check: ReplyCheck,
  signal: AbortSignal,
  run: (within: AbortSignal) => Promise<T>,
) => Promise<T>

/** Makes calls to one port of a provider: limited in time, counted, and with checked replies. */
function checkedCalls(name: string, port: string, options: CallOptions): Call {
  return (check, signal, run) =>
    limited(name, port, signal, options, async within => {
      const reply = await run(within)
      const problem = check(reply)
      if (problem)
        throw new Fault('ERR_PROVIDER_REPLY', `provider ${name} sent an invalid reply: ${problem.message}`)
      return reply
    })
}

/** Allows a `find` that finds nothing. */
const ifFound =
  (check: ReplyCheck): ReplyCheck =>
  reply =>
    reply === undefined ? undefined : check(reply)

function limitedCatalogue(provider: Catalogue, call: Call): Catalogue {
  return {
    assets: signal => call(validateAssets, signal, within => provider.assets(within)),
    quote: (want, signal) => call(validateQuoteReply, signal, within => provider.quote(want, within)),
  }
}

/** Wraps a provider of deposits as `limitedKyc` wraps one of identity checks. */
export function limitedDeposits(provider: DepositProvider, options: CallOptions): DepositProvider {
  const { name } = provider
  const verify = provider.verify?.bind(provider)
  const call = checkedCalls(name, 'deposits', options)
  return {
    ...limitedCatalogue(provider, call),
    name,
    ...(verify ? { verify } : {}),
    open: (id, want, signal) => call(validateOpenReply, signal, within => provider.open(id, want, within)),
    find: (id, signal) => call(ifFound(validateDepositReport), signal, within => provider.find(id, within)),
  }
}

/** Wraps a provider of withdrawals as `limitedKyc` wraps one of identity checks. */
export function limitedWithdrawals(provider: WithdrawalProvider, options: CallOptions): WithdrawalProvider {
  const { name } = provider
  const verify = provider.verify?.bind(provider)
  const call = checkedCalls(name, 'withdrawals', options)
  return {
    ...limitedCatalogue(provider, call),
    name,
    ...(verify ? { verify } : {}),
    send: (id, want, signal) => call(validateSendReply, signal, within => provider.send(id, want, within)),
    find: (id, signal) =>
      call(ifFound(validateWithdrawalReport), signal, within => provider.find(id, within)),
  }
}
