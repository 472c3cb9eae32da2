// The largest request that each write of the operation table accepts.
import { randomUUID } from 'node:crypto'
import { bearer, newWallet, signedBootstrap, type HttpResponse } from '../../harness/host.ts'
import { kycBody } from '../harness/kyc.ts'
import { memberOf, OUTSIDE } from '../harness/transfers.ts'
import { signedLogin, webToken } from '../harness/web-sign-in.ts'
import {
  clock,
  friend,
  heavyPolicy,
  key,
  longPolicy,
  ok,
  partner,
  partnerKey,
  partnerScopes,
  partnerUserId,
  send,
  somebody,
  user,
  wallet,
  type Call,
} from './callers.ts'

const wide = (length: number): string => '\u{1F4B3}'.repeat(length)
const note = { v: 1, iv: 'a'.repeat(16), ct: 'a'.repeat(684) }
const notes = { encryptedName: note, encryptedColor: note, encryptedEmoji: note, encryptedMemo: note }
const cardOf = async (call: Call): Promise<string> => {
  const { body } = ok(await call('/cards', {}))
  return (body.data['cardId'] ?? (body.data['card'] as { id: string }).id) as string
}
const limits = {
  user: { amount: 100_000, frequency: 'per30DayPeriod' },
  partner: { amountCents: 100_000, frequency: 'per30DayPeriod' },
}
const payinOf = async (): Promise<string> =>
  memberOf(await user('/subscriptions/payin', { plan: 'basic' }), 'payin').id
const properties = { metadata: { note: 'a'.repeat(4096 - 24) } }
const asset = { currency: 'usdc', network: 'base' }
const authorizationOf = async (call: Call): Promise<string> => {
  const cardId = await cardOf(call)
  return memberOf(await call('/sandbox/authorizations', { cardId, amountCents: 100 }), 'authorization').id
}
const merchant = { name: wide(40), mcc: '1234', city: wide(40), country: 'US' }
const newKeyOf = async (): Promise<string> =>
  ok(await user('/keys', { scopes: ['users.read'] })).body['userKeyId'] as string
/** A policy of 4 KiB, the most that the start of a sign-in takes. */
const cliPolicy = { denyOperations: longPolicy.denyOperations.slice(0, 46) }
const largestCli = { clientName: wide(60), label: wide(64), policy: cliPolicy }
const cliOf = async (body = {}): Promise<{ requestId: string; code: string; requestToken: string }> => {
  const { url, code, requestToken } = ok(await send('/auth/cli/start', { body })).body.data as Record<
    string,
    string
  >
  return {
    requestId: (url as string).split('request=')[1] as string,
    code: code as string,
    requestToken: requestToken as string,
  }
}
const fullKyc = (lastName: string): object =>
  kycBody(lastName, {
    firstName: wide(50),
    email: `${'a'.repeat(60)}@${'b'.repeat(60)}.example`,
    address: {
      line1: wide(100),
      line2: wide(100),
      city: wide(50),
      region: wide(50),
      postalCode: '123456789012345',
      countryCode: 'US',
    },
  })
/** A decision about a payment that a key below has asked for. */
const decisionOf = (name: 'approve' | 'deny') => async (): Promise<() => Promise<HttpResponse>> => {
  const policy = { approveAboveCents: 0 }
  const below = ok(await user('/keys', { scopes: ['payments.write'], policy })).body['userApiKey'] as string
  const opened = await send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': below } })
  const { body } = await send('/user/v1/payments', {
    body: { to: { walletAddress: friend }, amountCents: 10 },
    headers: { ...bearer(opened.body['sessionToken'] as string), 'idempotency-key': randomUUID() },
  })
  return () => user(`/approvals/${String(body['approvalId'])}/${name}`, undefined)
}
const secretsOf = async (call: Call): Promise<string> => {
  const { data } = ok(await call('/cards/secrets/session', {})).body
  return ((data['secrets'] ?? data) as { sessionId: string }).sessionId
}
const encryptedOf = async (): Promise<object> =>
  (
    (
      ok(await user('/crypto/encrypt', { items: [{ id: 'a', value: 'text' }] })).body['items'] as {
        encrypted: object
      }[]
    )[0] as { encrypted: object }
  ).encrypted

/** Prepares what a write needs, and returns the largest request that is accepted. */
type Largest = () => Promise<() => Promise<HttpResponse>>
const onBoth = (
  name: string,
  make: (call: Call, surface: 'user' | 'partner') => Largest,
): Record<string, Largest> => ({
  [`user ${name}`]: make(user, 'user'),
  [`partner ${name}`]: make(partner, 'partner'),
})
const just =
  (request: () => Promise<HttpResponse>): Largest =>
  async () =>
    request
const ending =
  (call: Call, what: string): Largest =>
  async () => {
    const id = await authorizationOf(call)
    if (what === 'refund') ok(await call(`/sandbox/authorizations/${id}/clear`, {}))
    return () => call(`/sandbox/authorizations/${id}/${what}`, {})
  }

export const LARGEST: Readonly<Record<string, Largest>> = {
  'user auth.bootstrap': async () => {
    const body = await signedBootstrap(
      newWallet(),
      {
        walletLabel: wide(60),
        keyLabel: wide(64),
        policy: heavyPolicy('key'),
        sessionPolicy: heavyPolicy('session'),
      },
      clock.now(),
    )
    return () => send('/user/v1/bootstrap', { body })
  },
  'public auth.challenge': just(() =>
    send('/auth/challenge', { body: { address: newWallet().address, walletLabel: wide(60) } }),
  ),
  'public auth.login': async () => {
    const { requestId, code } = await cliOf(largestCli)
    const labels = { walletLabel: wide(60), connector: wide(20) }
    const body = await signedLogin(send, newWallet(), { ...labels, requestId, code })
    return () => send('/auth/login', { body })
  },
  'public auth.session': async () => {
    const accessToken = await webToken(send)
    return () => send('/auth/session', { body: { accessToken } })
  },
  'public auth.openConsole': async () => {
    const web = await webToken(send, wallet)
    return () => send('/auth/console', { body: {}, headers: bearer(web) })
  },
  'public auth.startCli': just(() => send('/auth/cli/start', { body: largestCli })),
  'public auth.pollCli': async () => {
    const { requestToken } = await cliOf()
    return () => send('/auth/cli/poll', { body: { requestToken } })
  },
  'public auth.inspectCli': async () => {
    const { requestId } = await cliOf()
    return () => send('/auth/cli/inspect', { body: { requestId } })
  },
  'public auth.denyCli': async () => {
    const { requestId, code } = await cliOf()
    return () => send('/auth/cli/deny', { body: { requestId, code } })
  },
  'user keys.create': just(() => user('/keys', { label: wide(64), policy: longPolicy })),
  'user keys.change': async () => {
    const id = await newKeyOf()
    ok(await user(`/keys/${id}`, { label: wide(64), policy: longPolicy }, { method: 'PATCH' }))
    return () => user(`/keys/${id}`, { policy: longPolicy }, { method: 'PATCH' })
  },
  'user keys.rotate': async () => {
    const id = ok(await user('/keys', { policy: longPolicy })).body['userKeyId'] as string
    return () => user(`/keys/${id}/rotate`, {})
  },
  'user keys.pause': async () => {
    const id = await newKeyOf()
    return () => user(`/keys/${id}/pause`, undefined, { method: 'POST' })
  },
  'user keys.resume': async () => {
    const id = await newKeyOf()
    ok(await user(`/keys/${id}/pause`, undefined, { method: 'POST' }))
    return () => user(`/keys/${id}/resume`, undefined, { method: 'POST' })
  },
  'user keys.revoke': async () => {
    const id = await newKeyOf()
    return () => user(`/keys/${id}`, undefined, { method: 'DELETE' })
  },
  'user sessions.create': just(() =>
    send('/user/v1/sessions', { body: { policy: heavyPolicy('mint') }, headers: { 'x-user-key': key } }),
  ),
  'user sessions.end': async () => {
    const id = ok(await user('/sessions', {})).body['sessionId'] as string
    return () => user(`/sessions/${id}`, undefined, { method: 'DELETE' })
  },
  'partner users.resolve': just(() =>
    send('/partner/v1/users/resolve', {
      body: {
        userId: `${randomUUID()}${wide(40)}`,
        walletAddress: newWallet().address,
        walletLabel: wide(60),
      },
      headers: partnerKey,
    }),
  ),
  'partner sessions.createForPartner': just(() =>
    send('/partner/v1/sessions', {
      body: { userId: partnerUserId, scopes: partnerScopes, sessionLabel: wide(60) },
      headers: partnerKey,
    }),
  ),
  'user subscriptions.payin': just(() => user('/subscriptions/payin', { amountCents: 100, ...properties })),
  'user subscriptions.checkout': just(() =>
    user('/subscriptions/checkout', { plan: 'basic', ...properties }),
  ),
  'user subscriptions.confirm': async () => {
    const payinId = await payinOf()
    return () => user('/subscriptions/payin/confirm', { payinId, txHash: `0x${'a'.repeat(64)}` })
  },
  'user subscriptions.confirmBalance': async () => {
    const payinId = await payinOf()
    return () => user('/subscriptions/payin/confirm-balance', { payinId })
  },
  'user subscriptions.simulatePayment': async () => {
    const { id } = memberOf(await user('/subscriptions/payin', { amountCents: 100 }), 'payin')
    return () => user(`/sandbox/payins/${id}/settle`, {})
  },
  'user subscriptions.cancel': async () => {
    const { id } = memberOf(await user('/subscriptions/checkout', { plan: 'basic' }), 'subscription')
    return () => user(`/subscriptions/${id}/cancel`, {})
  },
  'user contracts.create': just(() => user('/contracts', { label: wide(80) })),
  'user deposits.transfer': async () => {
    const { id } = memberOf(await user('/contracts', { label: 'a' }), 'contract')
    return () => user('/deposits/transfer', { toContractId: id, fromContractId: null, amountCents: 100 })
  },
  'user payments.create': just(() =>
    user('/payments', { to: { walletAddress: friend }, amountCents: 10, memo: wide(140) }),
  ),
  'user approvals.approve': decisionOf('approve'),
  'user approvals.deny': decisionOf('deny'),
  'user bills.create': just(() =>
    user('/bills', { payee: wide(80), amountCents: 10, dueAt: '2099-01-01', reference: wide(80) }),
  ),
  'user bills.pay': async () => {
    const { id } = memberOf(
      await user('/bills', { payee: wide(80), amountCents: 10, dueAt: '2099-01-01', reference: wide(80) }),
      'bill',
    )
    return () => user(`/bills/${id}/pay`, {})
  },
  ...onBoth('cards.simulateAuthorization', call => async () => {
    const cardId = await cardOf(call)
    return () => call('/sandbox/authorizations', { cardId, amountCents: 100, merchant })
  }),
  ...onBoth('cards.simulateClearing', call => ending(call, 'clear')),
  ...onBoth('cards.simulateReversal', call => ending(call, 'reverse')),
  ...onBoth('cards.simulateRefund', call => ending(call, 'refund')),
  ...onBoth('cards.create', (call, surface) =>
    just(() => call('/cards', { ...notes, limit: limits[surface] })),
  ),
  ...onBoth('cards.change', (call, surface) => async () => {
    const id = await cardOf(call)
    return () =>
      call(`/cards/${id}`, { ...notes, limit: limits[surface], status: 'locked' }, { method: 'PATCH' })
  }),
  ...onBoth('cards.openSecrets', call => just(() => call('/cards/secrets/session', {}))),
  ...onBoth('cards.reveal', call => async () => {
    const [id, sessionId] = [await cardOf(call), await secretsOf(call)]
    return () => call(`/cards/${id}/secrets`, { sessionId })
  }),
  'user cards.propose': just(() =>
    user('/cards/disposable/proposals', {
      amountCents: 500,
      limitFrequency: 'per24HourPeriod',
      autoCancelAfterAuth: true,
    }),
  ),
  'user cards.execute': async () => {
    const { proposalId } = memberOf(
      await user('/cards/disposable/proposals', { amountCents: 500 }),
      'disposable',
    )
    return () => user('/cards/disposable/execute', { proposalId, encryptedName: note })
  },
  'user cards.cancel': async () => {
    const id = await cardOf(user)
    ok(await user(`/cards/${id}`, notes, { method: 'PATCH' }))
    return () => user(`/cards/${id}/delete-now`, {})
  },
  'partner cards.cancel': async () => {
    const id = await cardOf(partner)
    ok(await partner(`/cards/${id}`, notes, { method: 'PATCH' }))
    return () => partner(`/cards/${id}`, undefined, { method: 'DELETE' })
  },
  'user folders.create': just(() => user('/folders', { name: wide(80) })),
  'user folders.change': async () => {
    const { id } = memberOf(await user('/folders', { name: wide(80) }), 'folder')
    return () => user(`/folders/${id}`, { name: wide(80) }, { method: 'PATCH' })
  },
  'user folders.delete': async () => {
    const { id } = memberOf(await user('/folders', { name: wide(80) }), 'folder')
    return () => user(`/folders/${id}`, undefined, { method: 'DELETE' })
  },
  'partner deposits.range': just(() => partner('/deposits/range', asset)),
  'partner deposits.estimate': just(() => partner('/deposits/estimate', { ...asset, amount: '25' })),
  'partner withdrawals.range': just(() => partner('/withdrawals/range', { destination: asset })),
  'partner withdrawals.estimate': just(() =>
    partner('/withdrawals/estimate', { destination: asset, amountCents: 500 }),
  ),
  ...onBoth('deposits.create', call => just(() => call('/deposits', { ...asset, amount: '25.000001' }))),
  ...onBoth('deposits.simulate', call => async () => {
    const { id } = memberOf(await call('/deposits', asset), 'deposit')
    return () => call(`/sandbox/deposits/${id}/pay`, { amount: '50' })
  }),
  ...onBoth('withdrawals.create', call =>
    just(() => call('/withdrawals', { amountCents: 500, destination: { ...asset, address: OUTSIDE } })),
  ),
  'user users.change': just(() =>
    user(
      '/users',
      { displayName: wide(80), email: `${'a'.repeat(60)}@${'b'.repeat(60)}.example` },
      { method: 'PATCH' },
    ),
  ),
  'partner users.change': just(() =>
    partner(
      '/users',
      { displayName: wide(80), email: `${'a'.repeat(60)}@${'b'.repeat(60)}.example` },
      { method: 'PATCH' },
    ),
  ),
  'user access.evaluate': async () => {
    const { data } = ok(await user('/identity', undefined, { method: 'GET' })).body
    const { accountId, sessionId } = data['identity'] as { accountId: string; sessionId: string }
    return () =>
      user('/access/v1/evaluation', {
        subject: { type: 'session', id: sessionId },
        action: { name: 'payments.create', properties: { amountCents: 100 } },
        resource: { type: 'account', id: accountId },
      })
  },
  'user identity.change': just(() => user('/identity', { walletLabel: wide(120) }, { method: 'PATCH' })),
  'user crypto.encrypt': just(() =>
    user('/crypto/encrypt', {
      items: Array.from({ length: 40 }, (_, n) => ({ id: `${n}`, value: 'a'.repeat(4096) })),
    }),
  ),
  'user crypto.decrypt': async () => {
    const encrypted = await encryptedOf()
    return () => user('/crypto/decrypt', { items: [{ id: 'a', encrypted }] })
  },
  'partner crypto.encrypt': just(() => partner('/encryption/encrypt', { value: 'a'.repeat(4096) })),
  'partner crypto.decrypt': async () => {
    const { data } = ok(await partner('/encryption/encrypt', { value: 'a'.repeat(4096) })).body
    return () =>
      partner(
        '/encryption/decrypt',
        data['encrypted'] ? { value: data['encrypted'] } : { value: data['value'] },
      )
  },
  'user referrals.apply': async () => {
    const [one, other] = [await somebody.user(), await somebody.user()]
    const { data } = ok(await other('/referrals', undefined, { method: 'GET' })).body
    const { code } = (data['referral'] ?? data) as { code: string }
    return () => one('/referrals', { code })
  },
  'user notifications.mark': async () => {
    const { data } = ok(await user('/notifications', undefined, { method: 'GET' })).body
    const [{ id } = { id: '' }] = data['notifications'] as { id: string }[]
    return () => user(`/notifications/${id}`, { read: true }, { method: 'PATCH' })
  },
  'user notifications.markAll': async () => () => user('/notifications', { read: true }, { method: 'PATCH' }),
  ...onBoth('kyc.submit', (_, surface) => async () => {
    const one = await somebody[surface]()
    return () => one(surface === 'user' ? '/kyc' : '/kyc/applications', fullKyc('Pending'))
  }),
  ...onBoth('kyc.simulate', (_, surface) => async () => {
    const one = await somebody[surface]()
    return () => one('/sandbox/kyc', { status: 'approved' })
  }),
  ...onBoth('agreements.accept', (_, surface) => async () => {
    const one = await somebody[surface]()
    ok(await one('/sandbox/kyc', { status: 'approved' }))
    return () => one('/agreements', { accepted: true })
  }),
  'user onboarding.skip': async () => {
    const one = await somebody.user()
    return () => one('/onboarding/funding', {})
  },
}
