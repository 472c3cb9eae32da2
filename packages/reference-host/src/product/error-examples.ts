import type { errorCodes, ruleMeanings } from './errors.ts'

/** The members of an example of an error, beside `error`, and for a rule beside `rule`. Ids and texts stand for those of a real response. */
export type ErrorExample = { readonly message: string; readonly [member: string]: unknown }

const DAY = { window: 'day', unit: 'cents', resetsAt: '2026-11-30T00:00:00.000Z' }

const ASKED = {
  rule: 'approveAboveCents',
  limit: 5000,
  requested: 6000,
  approvalId: 'apr_q8yIuSBlGzyzJqWfbEMiT6hPlTGc6CqkZ6dSkbGtXx4',
  operation: 'payments.create',
  payee: ['account:acc_5Qz'],
  amountCents: 6000,
  currency: 'USD',
  expiresAt: '2026-11-29T13:00:00.000Z',
}

/** An example of each code. */
export const errorExamples: Readonly<Record<keyof typeof errorCodes, ErrorExample>> = {
  approval_denied: {
    message: 'The owner of this account has denied this payment.',
    ...ASKED,
  },
  approval_required: {
    message:
      'A payment above 50.00 USD with this key waits until its owner has approved it: 60.00 USD requested. Send the request again, with the same Idempotency-Key, when it is approved.',
    ...ASKED,
    approveUrl: 'https://pay.example/console/#approvals',
  },
  challenge_not_found: { message: 'No open request has this token.' },
  gone: { message: 'The field wallet is gone: send walletAddress.', field: 'wallet' },
  https_required: { message: 'This API is served over HTTPS only.' },
  idempotency_key_invalid: {
    message: 'Idempotency-Key must be 8 to 255 visible ASCII characters.',
    field: 'idempotency-key',
  },
  idempotency_key_required: {
    message: 'This operation needs an Idempotency-Key header.',
    field: 'idempotency-key',
  },
  idempotency_key_reused: {
    message: 'This Idempotency-Key was already used with another payload.',
    field: 'idempotency-key',
  },
  insufficient_balance: {
    message: 'The balance is 24.00 USD: 50.00 USD requested.',
    field: 'amountCents',
    availableCents: 2400,
    requestedCents: 5000,
  },
  insufficient_scope: { message: 'The session lacks the scope payments.write.', scope: ['payments.write'] },
  internal_error: { message: 'An unexpected error happened.' },
  invalid_dpop_proof: { message: 'The DPoP proof is missing or not valid.' },
  invalid_request: { message: 'amountCents must be at least 1.', field: 'amountCents' },
  invalid_signature: { message: 'The wallet proof is not valid.' },
  invalid_state: { message: 'kyc required: submit an application and wait until it is approved.' },
  key_held: {
    message:
      'This key is held, because it may have been revoked before the data of this host was restored: ask the operator.',
  },
  key_not_validated: {
    message: 'This partner key is not validated for production yet: ask the operator.',
  },
  method_not_allowed: { message: 'This path allows GET, POST.' },
  not_found: { message: 'No card has this id.' },
  outcome_unknown: {
    message: 'An earlier run of this request was lost, and whether it took effect is not known.',
    operationId: 'nvSujOgr2nNa215v',
  },
  payee_not_found: { message: 'No user signs with a key of this address.', field: 'to' },
  payload_too_large: { message: 'The body must be at most 262144 bytes.' },
  policy_blocked: { message: 'A policy of this key denies this operation.', rule: 'denyOperations' },
  rate_limited: { message: 'Too many requests.', limit: 'guardedPerKeyPerMinute' },
  request_in_progress: { message: 'The first request with this Idempotency-Key is still running.' },
  service_unavailable: { message: 'A service that this request needs is not available. Try again later.' },
  session_expired: { message: 'The session has expired: get a new token.' },
  unauthorized: { message: 'A bearer session token is required.' },
  unsupported_media_type: {
    message: 'Send the body as a JSON object in UTF-8 with Content-Type: application/json.',
  },
  use_dpop_nonce: { message: 'The DPoP proof must have the nonce of the field DPoP-Nonce.' },
  wrong_surface: { message: 'This operation takes a user session.', surface: 'user' },
}

/** An example of each rule of `policy_blocked`. */
export const ruleExamples: Readonly<Record<keyof typeof ruleMeanings, ErrorExample>> = {
  denyOperations: { message: 'A policy of this key denies this operation.' },
  allowOperations: { message: 'The policies of this key do not allow this operation.' },
  notBefore: { message: 'A policy of this key allows nothing before 2026-12-01T00:00:00Z.' },
  notAfter: { message: 'A policy of this key allows nothing from 2026-11-01T00:00:00Z on.' },
  allowedIps: { message: 'A policy of this key does not allow requests from this address.' },
  allowCardSecrets: { message: 'A policy of this key does not allow card numbers to be shown.' },
  denyPayees: {
    message: 'A policy of this key denies payments to country:RU. The owner of the key can allow them.',
    payee: ['merchant:m_1', 'mcc:5411', 'country:RU'],
    denied: ['country:RU'],
  },
  payees: {
    message:
      'A policy of this key allows payments to 2 payees, not to account:acc_5Qz. The owner of the key can add it.',
    payee: 'account:acc_5Qz',
    allowed: 2,
  },
  maxAuthAmountCents: {
    message: 'One payment with this key is limited to 10.00 USD: 15.00 USD requested.',
    unit: 'cents',
    limit: 1000,
    remaining: 1000,
    requested: 1500,
  },
  dailySpendCapCents: {
    message:
      'Spending with this key is limited to 100.00 USD a day: 40.00 USD left, 50.00 USD requested. It resets at 00:00 UTC.',
    ...DAY,
    limit: 10_000,
    remaining: 4000,
    requested: 5000,
  },
  dailyWithdrawalCapCents: {
    message:
      'Withdrawals with this key are limited to 20.00 USD a day: 0.00 USD left, 5.00 USD requested. It resets at 00:00 UTC.',
    ...DAY,
    limit: 2000,
    remaining: 0,
    requested: 500,
  },
  approveAboveCents: {
    message:
      'A payment above 50.00 USD with this key waits until its owner has approved it, and 20 payments of the account wait already: let some be approved or denied first.',
    mostOpen: 20,
    limit: 5000,
    requested: 6000,
  },
  limits: {
    message:
      'Calls of cards.create with this key are limited to 3 calls a day: 0 left. It resets at 00:00 UTC.',
    ...DAY,
    unit: 'count',
    limit: 3,
    remaining: 0,
    requested: 1,
  },
  currency: { message: 'The limits of this key are in US dollars, and there is no rate for this currency.' },
  key_authority: { message: 'The caller may not change or rotate this key.' },
  max_depth: { message: 'More than 16 policies.' },
  max_live_keys: {
    message: 'The account has 50 live keys: revoke one of them first.',
    limit: 50,
    limitOf: 'account',
  },
  key_paused: {
    message: 'This API key is paused: until it is resumed, it and the keys below it do nothing.',
  },
  already_rotated: { message: 'The key was rotated before, and its successor has been used.' },
  max_unpaid_addresses: {
    message: 'Too many deposit addresses of this account were never paid to: pay from the wallet.',
  },
  max_unpaid_addresses_of_client: {
    message: 'Too many deposit addresses of this client were never paid to: pay from the wallet.',
  },
  account_locked: { message: 'account locked: ask support.' },
  kyc_required: { message: 'kyc required: submit an application and wait until it is approved.' },
  agreements_required: { message: 'agreements required: accept the agreements.' },
  data_key_never_leaves: { message: 'The data key never leaves the host: use crypto/encrypt.' },
  cross_origin: {
    message:
      'Only a command line or a page of https://pay.example may send this, not a page of another origin.',
  },
  max_contracts: { message: 'An account has at most 20 contracts.' },
  max_bills: { message: 'An account has at most 100 open bills.' },
  card_above_caller: {
    message:
      'maxAuthAmountCents of this session does not bind the card: use the key that made the card, or a session without it.',
  },
  approved_key: {
    message:
      'This sign-in was approved for one new key with the rights that the person saw: sign in with a wallet for anything else.',
  },
  max_cards: { message: 'The account has 50 cards: cancel one first.' },
  max_folders: { message: 'The account has 100 folders: delete one first.' },
  max_deposits: { message: '20 deposits wait for money: pay one of them first.' },
  max_withdrawals: { message: '20 withdrawals are under way: wait until one of them ends.' },
  max_payins: {
    message: 'The account has 100 open pay-ins: pay one, or wait until one ends, at most 24 hours.',
  },
}
