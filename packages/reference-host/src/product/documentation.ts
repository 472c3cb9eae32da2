import type { Product } from '@gatewright/host'

const INTRODUCTION = `An API that moves money for people and their programs.

## First call

A key is made in the console at [/helper](/helper), which signs in with a wallet and sets its limits; a sandbox has a test wallet. Exchange it for a session, and read the balance:

\`\`\`sh
curl -X POST "{host}/user/v1/sessions" -H "X-User-Key: $KEY" -H "content-type: application/json" -d '{}'
curl "{host}/user/v1/balances" -H "Authorization: Bearer $SESSION" # its sessionToken
\`\`\`

Programs can sign with a wallet, too: \`POST /user/v1/bootstrap\` returns a key and a session.

## Authentication

| Credential | Sent as | Lives | For |
|---|---|---|---|
| API key | \`X-User-Key\` | until it is revoked | getting sessions, on a server |
| Session | \`Authorization: Bearer\` | 15 minutes by default | requests |
| Web token | \`Authorization: Bearer\` | 10 minutes | making one key after a sign-in |
| Partner key | \`X-Partner-Key\` | until it is revoked | sessions for users of a partner, between servers |

Exchange a key at \`POST /user/v1/sessions\`. A session has at most the scopes of its key, and every limit of the key binds it.
On this page, choose the credential at the top of an operation. After a sign-in at [/helper](/helper) in this tab, the session of the console is filled in: it reads, and moves no money.

## Idempotency

A write that moves money needs an \`idempotency-key\`: 8 to 255 characters of your choice, one for each intended effect. The same key and the same body get the stored response,
with \`Idempotency-Replayed: true\`. The same key with another body is 400 \`idempotency_key_reused\`. Repeat a request whose response was lost with its key: it takes effect at most once.

## Errors

A denial has a status from 400 to 429 and a body with \`error\`, a stable code, \`message\`, and \`field\` where a member is wrong. Every response has an \`X-Request-Id\`.
503 with \`Retry-After\` means that the host cannot decide now: repeat later, with the same idempotency key.

## Open Responses

Every operation takes two more header fields. \`X-Open-Responses: 1\` returns its response, an error too, as an Open Responses object; \`X-Open-Responses-Call-Id\`
chooses the \`call_id\` of that object.

## Sandbox

Money of a sandbox is play money. \`POST /user/v1/deposits\` adds it to the balance; the group Sandbox plays the other sides: card networks, identity checks, deposits and pay-ins.

## Old names

Paths such as \`/consumer/v1\` still work. [Show them here](/docs?old-names).
`

/** What the API description says beside its operations. Groups are in the order in which a program needs them. */
export const documentation: NonNullable<Product<never>['documentation']> = {
  introduction: INTRODUCTION,
  groups: {
    auth: 'Sign-in',
    keys: 'API keys',
    sessions: 'Sessions',
    approvals: 'Payments that wait for an approval',
    audit: 'Changes of keys and sessions',
    access: 'Access requests (AuthZEN)',
    requests: 'Requests',
    identity: 'Credential and data key',
    users: 'Users',
    onboarding: 'Set-up',
    agreements: 'Agreements',
    kyc: 'Identity check',
    balances: 'Balances',
    payments: 'Payments',
    transactions: 'Transactions',
    subscriptions: 'Plans and pay-ins',
    deposits: 'Deposits',
    withdrawals: 'Withdrawals',
    contracts: 'Savings',
    bills: 'Bills',
    tokens: 'Tokens',
    cards: 'Cards',
    folders: 'Card folders',
    crypto: 'Encryption',
    notifications: 'Notifications',
    referrals: 'Referrals',
    spotlight: 'Offers',
    support: 'Support',
    sandbox: 'Sandbox',
    partners: 'Partners',
    providers: 'Events of providers',
    events: 'Events of providers',
    system: 'The host',
  },
}
