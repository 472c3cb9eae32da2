import { component, text } from '@gatewright/host/schemas'
import * as Type from 'typebox/type'
import type { TSchema } from 'typebox/type'

/** Schema of granted scopes. No surface has more than 64. */
export const grantedScopes: TSchema = Type.Array(Type.String(), {
  maxItems: 64,
  description: 'What it may be used for',
})

/** Schema of requested scopes that are retired and were not granted. */
export const ignoredScopes: Type.TOptional<TSchema> = Type.Optional(
  Type.Array(Type.String(), { description: 'Requested scopes that are retired. They grant nothing' }),
)

const cents = (description: string): Type.TOptional<Type.TInteger> =>
  Type.Optional(Type.Integer({ minimum: 0, description }))
const percent = (description: string): Type.TOptional<Type.TInteger> =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description }))
const operations = (description: string): Type.TArray<Type.TString> =>
  Type.Array(Type.String(), { maxItems: 100, description })

const PolicyLimit = Type.Object(
  {
    operations: operations(
      'Ids of operations, such as `payments.create`, or whole tags, such as `payments.*`',
    ),
    window: Type.Enum(['operation', 'day', 'week', 'month', '24h', '7d', '30d', 'total'], {
      description: 'Days, weeks from Monday and months of UTC, or of `timeZone`; or the time before the call',
    }),
    maxCents: cents('US cents. This, `maxCount` or `approveAboveCents`'),
    maxCount: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Calls. Not with the window `operation`' }),
    ),
    approveAboveCents: cents('US cents. A payment above it, with what the window has, waits for an approval'),
    alertAtPercent: percent('An event says when so much of it is used. Not with the window `operation`'),
  },
  component('PolicyLimit', 'What all its operations together may do in a window'),
)

const payees = (description: string): TSchema =>
  Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100, description })

/** The members of a policy as the API description shows them. */
const PolicyMembers = Type.Object({
  maxAuthAmountCents: cents('The most that one operation may move, in US cents'),
  dailySpendCapCents: cents('The most that may move in a day, withdrawals included, in US cents'),
  dailyWithdrawalCapCents: cents('The most that withdrawals may move in a day, in US cents'),
  approveAboveCents: cents('An operation that moves more waits until the owner has approved it, in US cents'),
  allowCardSecrets: Type.Optional(
    Type.Boolean({ description: '`false` forbids operations that show card secrets' }),
  ),
  notBefore: Type.Optional(text('Forbids calls before this time (RFC 3339)')),
  notAfter: Type.Optional(text('Forbids calls from this time on (RFC 3339)')),
  denyOperations: Type.Optional(operations('Ids of operations, or whole tags, that are forbidden')),
  allowOperations: Type.Optional(operations('If present, all other operations are forbidden')),
  payees: Type.Optional(
    payees(
      'If present, money may go to these alone, such as `wallet:0x…`, `country:DE` or `address:NETWORK:ADDRESS`',
    ),
  ),
  denyPayees: Type.Optional(payees('Money to any of these is forbidden')),
  limits: Type.Optional(Type.Array(PolicyLimit, { maxItems: 16 })),
  timeZone: Type.Optional(
    text('Where its days, weeks and months begin, such as `Europe/Berlin`; absent: UTC'),
  ),
  alertAtPercent: percent('An event says when so much of a daily cap is used'),
  allowedIps: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 100,
      description: 'Addresses or CIDR blocks. If present, all others are forbidden',
    }),
  ),
})

/** Schema of a policy. The guard checks its content, and says more exactly what is wrong: the members are for the API description only. */
export const PolicySchema: TSchema = Type.Unknown({
  ...component('Policy', 'Limits on what a key or a session may do: operations, amounts, addresses, times'),
  'x-described': PolicyMembers,
})
