import type { HostServices } from '@gatewright/host'
import { heldKeysOf, isoOrNull, keySession, sessionRule } from '@gatewright/host/internal'
import { type CommandArguments, CommandError, type Command } from '@gatewright/host/cli'
import { dollarsArgument } from '../command-arguments.ts'
import type { Rule } from '@gatewright/kernel'
import type { Explanation, Spend } from '@gatewright/scope-guard/internal'
import type { ApiKey } from '@gatewright/session-issuer'
import { describeKey } from './key-output.ts'

const MAX_CENTS = 100_000_000_000

/** Explains what a session of a key with all its rights may do now. It counts nothing. */
export const explainCommand: Command<HostServices> = {
  name: 'explain',
  takes: ['KEY_ID', 'OPERATION'],
  options: {
    amount: 'US dollars that the operation would move, such as 12.50',
    payee: 'who would be paid, such as account:acc_1 or country:DE, for policies with payees',
    address: 'the address of the client; default: none, which allowedIps block',
  },
  summary: 'Say what a key may do now, rule by rule of its policies, and how much is left',
  example: '4fJ2sVbXq81TzKpL payments.create --amount 12.50',
  check: spendOf,
  async run(services, args) {
    const [keyId = '', operation = ''] = args.positional
    const { backend, clock, guard } = services
    const key = await backend.issuer.keys.find(keyId)
    if (!key) throw new CommandError(`no key ${keyId}`)
    const rule = ruleOf(services, key, operation)
    const spend = spendOf(args)
    if (spend && rule.spends === undefined)
      throw new CommandError(`${operation} moves no money of the caller: leave out --amount`)
    const { address } = args.options
    const facts = { authorization: undefined, ...(address === undefined ? {} : { address }) }
    const explained = await guard.explain(keySession(key), facts, rule, spend)
    const { id, label, state } = describeKey(key, clock.now(), await heldKeysOf(backend.sql, key.accountId))
    return {
      data: { key: { id, label, state }, operation, ...explanationData(explained) },
      lines: [`${operation} with the key ${id} (${label ?? 'no label'}, ${state})`, ...explained.lines],
    }
  },
}

function spendOf({ options: { amount, payee } }: CommandArguments): Spend | undefined {
  if (amount === undefined) {
    if (payee !== undefined) throw new CommandError('--payee needs --amount')
    return undefined
  }
  const amountCents = dollarsArgument('--amount', amount, MAX_CENTS)
  return { amountCents, currency: 'USD', ...(payee === undefined ? {} : { payee }) }
}

function ruleOf(services: HostServices, { surface }: ApiKey, id: string): Rule {
  const rule = sessionRule(services, surface, id)
  if (!rule)
    throw new CommandError(
      `${id} is no operation for sessions of a ${surface} key: see npx gatewright operations`,
    )
  return rule
}

/** Converts an explanation for JSON. */
function explanationData({ decision, policyRevision, rules }: Explanation): object {
  return {
    decision: decision.ok
      ? { allowed: true }
      : {
          allowed: false,
          status: decision.status,
          error: decision.code,
          message: decision.message,
          details: decision.details ?? null,
        },
    policyRevision,
    rules: rules.map(({ cap, ...rule }) => ({
      ...rule,
      cap: cap ? { ...cap, resetsAt: isoOrNull(cap.resetsAt) } : null,
    })),
  }
}
