import { allow, type Session, type Verdict } from '@gatewright/kernel'
import type { Access } from '@gatewright/scope-guard'
import type { Explanation, Spend } from '@gatewright/scope-guard/internal'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import { callerOf, heldKeysOf, keySession } from '@gatewright/host/internal'
import { textOrNull, component, idText, nameText, text } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import { Cap, capData, exampleCap } from '../identity/operations.ts'
import { endOf } from '../requests/decide-again.ts'
import { EVALUATION_PATH } from './configuration.ts'

/** What evaluations work with. */
type EvaluationServices = Pick<HostServices, 'issuer' | 'guard' | 'operationRules' | 'clock' | 'db'>

/** The most rules that an explanation lists: ten members and sixteen limits of each of 16 policies. */
const MAX_RULES = 420
const open = { additionalProperties: true }

const Body = Type.Object(
  {
    subject: Type.Object(
      {
        type: idText(40, '`key`, or `session` for that of this request'),
        id: idText(120, 'The id of a key that the caller may list, or of the session'),
      },
      open,
    ),
    action: Type.Object(
      {
        name: idText(120, 'An operation of this host, such as `payments.create`'),
        properties: Type.Optional(
          Type.Object(
            {
              amountCents: Type.Optional(
                Type.Integer({
                  minimum: 0,
                  maximum: Number.MAX_SAFE_INTEGER,
                  description: 'What the operation would move. Default: caps are not applied',
                }),
              ),
              payee: Type.Optional(
                Type.Array(nameText(1, 200), {
                  minItems: 1,
                  maxItems: 16,
                  description:
                    'Who would be paid, by all names that policies may list. Default: nobody, which policies with payees block',
                }),
              ),
              currency: Type.Optional(
                Type.String({
                  pattern: '^[A-Z]{3}$',
                  description: 'Of the amount. Default: `USD`',
                  expected: 'must be three capital letters',
                }),
              ),
            },
            open,
          ),
        ),
      },
      open,
    ),
    resource: Type.Object(
      { type: idText(40, '`account`'), id: idText(120, 'The account of the subject') },
      open,
    ),
    context: Type.Optional(
      Type.Object(
        {
          address: Type.Optional(
            Type.String({
              pattern: '^[0-9A-Fa-f:.]{2,45}$',
              description: 'The IP address of the client. Default: none, which `allowedIps` block',
              expected: 'must be an IP address',
            }),
          ),
        },
        open,
      ),
    ),
  },
  { ...component('EvaluationRequest', 'An access request (AuthZEN Authorization API 1.0)'), ...open },
)
type EvaluationRequest = Type.Static<typeof Body>

const Rule = Type.Object(
  {
    policyId: text('The policy'),
    rule: text('Its member; `currency`: whether money caps can count the currency'),
    outcome: Type.Enum(['passes', 'blocks', 'skipped']),
    binds: Type.Boolean({
      description:
        'Whether it is what limits the request: the rule that denies, else the cap with the least left',
    }),
    requested: Type.Union([Type.Integer(), Type.Null()], {
      description: 'What the request adds to the cap; null for another rule',
    }),
    cap: Type.Union([Cap, Type.Null()], { description: 'The cap; null for another rule' }),
  },
  component('EvaluatedRule', 'What one rule of one policy decides'),
)
const Evaluation = Type.Object(
  {
    decision: Type.Boolean({ description: 'Whether the subject may do it now' }),
    context: Type.Object(
      {
        id: text('The reason within this response: `0`'),
        reason_user: Type.Optional(
          Type.Record(Type.String(), Type.String(), { description: 'Why not, by language' }),
        ),
        error: textOrNull('The code of the error that the request would get'),
        policyRevision: textOrNull('Which policies were applied; null if none were'),
        rules: Type.Array(Rule, { maxItems: MAX_RULES, description: 'Every rule of every policy' }),
      },
      component('EvaluationContext', 'Why'),
    ),
  },
  component('Evaluation', 'The decision about an access request'),
)

/**
 * `POST /access/v1/evaluation` (AuthZEN Authorization API 1.0, section 6): whether a key or the session of the request may do an
 * operation now. It counts nothing. A subject that the caller may not see, an unknown operation and another account's resource are
 * decided as false.
 */
export function evaluateAccess(services: EvaluationServices): Operation {
  return operation({
    id: 'access.evaluate',
    title: 'Evaluate an access request',
    details: 'Whether a key or this session may do an operation now, and why (AuthZEN). Nothing is counted.',
    surface: 'user',
    method: 'POST',
    credential: 'session',
    paths: [EVALUATION_PATH],
    scopes: ['keys.read'],
    body: Body,
    response: Evaluation,
    document: true,
    example: {
      body: {
        subject: { type: 'key', id: '4fJ2sVbXq81TzKpL' },
        action: { name: 'payments.create', properties: { amountCents: 5000 } },
        resource: { type: 'account', id: 'acc_79db7a61096340598de4661d67683883' },
      },
      response: {
        decision: false,
        context: {
          id: '0',
          reason_user: { en: 'Spending with this key is limited to 50.00 USD a day.' },
          error: 'policy_blocked',
          policyRevision: 'Q2hhbmdlcyB3aXRoIHBvbA',
          rules: [
            {
              policyId: 'pol_1',
              rule: 'dailySpendCapCents',
              outcome: 'blocks',
              binds: true,
              requested: 5000,
              cap: exampleCap,
            },
          ],
        },
      },
    },
    async handle({ caller, body, facts }) {
      const evaluated = await evaluate(services, caller, body)
      if (!evaluated.ok) return evaluated
      const requestId = facts.header('x-request-id')
      const headers = echoes(requestId) ? [['X-Request-Id', requestId] as const] : []
      return allow({ document: evaluated.value, headers })
    },
  })
}

/** Whether the request id of a client may be repeated in the response (section 10.1.12). */
const echoes = (id: string | undefined): id is string => id !== undefined && /^[!-~]{1,100}$/.test(id)

async function evaluate(
  services: EvaluationServices,
  caller: Access,
  { subject, action, resource, context }: EvaluationRequest,
): Promise<Verdict<Type.Static<typeof Evaluation>>> {
  const { guard, operationRules } = services
  const found = await findSubject(services, caller, subject)
  if (!found.ok) return found
  if ('reason' in found.value) return allow(denied(found.value.reason))
  const { session } = found.value
  if (resource.type !== 'account' || resource.id !== session.accountId)
    return allow(denied('The resource is not the account of the subject.'))
  const rule = operationRules.get(`user ${action.name}`)
  if (!rule) return allow(denied('This host has no such operation.'))
  const { amountCents, currency = 'USD', payee } = action.properties ?? {}
  if (amountCents !== undefined && rule.spends === undefined) {
    return deny('invalid_request', `${action.name} moves no money of the caller`, {
      field: 'action.properties.amountCents',
    })
  }
  const spend: Spend | undefined =
    amountCents === undefined
      ? undefined
      : { amountCents, currency, ...(payee === undefined ? {} : { payee }) }
  const { address } = context ?? {}
  const clientFacts = { authorization: undefined, ...(address === undefined ? {} : { address }) }
  return allow(evaluationOf(await guard.explain(session, clientFacts, rule, spend)))
}

type Subject = { readonly session: Session } | { readonly reason: string }

const UNKNOWN_SUBJECT = { reason: 'There is no such subject, or the caller may not see it.' }

async function findSubject(
  { issuer, clock, db }: EvaluationServices,
  caller: Access,
  { type, id }: EvaluationRequest['subject'],
): Promise<Verdict<Subject>> {
  if (type === 'session')
    return allow(id === caller.session.sessionId ? { session: caller.session } : UNKNOWN_SUBJECT)
  const visible = await issuer.visibleKeys(callerOf(caller))
  if (!visible.ok) return visible
  const key = type === 'key' ? visible.value.find(each => each.id === id) : undefined
  if (!key) return allow(UNKNOWN_SUBJECT)
  const ended = endOf(key, clock.now())
  if (ended !== undefined) return allow({ reason: `The key ${ended}.` })
  const held = await heldKeysOf(db, key.accountId)
  return allow(held.has(id) ? { reason: 'The key is held since a restore.' } : { session: keySession(key) })
}

function denied(reason: string): Type.Static<typeof Evaluation> {
  return {
    decision: false,
    context: { id: '0', reason_user: { en: reason }, error: null, policyRevision: null, rules: [] },
  }
}

function evaluationOf({ decision, policyRevision, rules }: Explanation): Type.Static<typeof Evaluation> {
  return {
    decision: decision.ok,
    context: {
      id: '0',
      ...(decision.ok ? {} : { reason_user: { en: decision.message } }),
      error: decision.ok ? null : decision.code,
      policyRevision,
      rules: rules.map(({ cap, requested = null, ...rule }) => ({
        ...rule,
        requested,
        cap: cap ? (capData(cap) as Type.Static<typeof Cap>) : null,
      })),
    },
  }
}
