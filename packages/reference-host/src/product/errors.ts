import { codes as hostCodes } from '@gatewright/host'
import { codes as httpCodes } from '@gatewright/http'
import { codes as idempotencyCodes } from '@gatewright/idempotency-store'
import { codes as aliasCodes } from '@gatewright/legacy-alias-router'
import { codes as guardCodes, rules as guardRules } from '@gatewright/scope-guard'
import { codes as issuerCodes, rules as issuerRules } from '@gatewright/session-issuer'
import { codes as verifierCodes } from '@gatewright/signature-verifier'
import { rules as productRules } from './denials.ts'

/** Every code of a response of this host, with its HTTP status. */
export const errorCodes = {
  ...hostCodes,
  ...httpCodes,
  ...idempotencyCodes,
  ...aliasCodes,
  ...guardCodes,
  ...issuerCodes,
  ...verifierCodes,
} as const

type ErrorCode = keyof typeof errorCodes
type Rule = (typeof guardRules)[number] | (typeof issuerRules)[number] | (typeof productRules)[number]

/** What a client should do about each code. Text in backticks is code. */
export const errorAdvice: Readonly<Record<ErrorCode, string>> = {
  approval_denied: 'The owner of the account denied it. A new key asks again.',
  approval_required:
    'The owner of the account has to approve it at `approveUrl` before `expiresAt`. Then repeat with the same key.',
  challenge_not_found: 'The sign-in of a command line is over, or the code is wrong. Start it again.',
  gone: 'The old name has been switched off. Use the new one.',
  https_required: 'Send the request over HTTPS.',
  idempotency_key_invalid: 'Send 8 to 255 visible ASCII characters, bare or as one quoted string.',
  idempotency_key_required: 'Send an `Idempotency-Key`: a fresh one per write, the same one for its repeats.',
  idempotency_key_reused: 'The key was used with another payload. Take a fresh key.',
  insufficient_balance:
    'The balance is `availableCents`. The same request works, with its key, once there is enough.',
  insufficient_scope: 'Ask for a session with the scope that `scope` names.',
  internal_error: 'Our mistake. Report the `X-Request-Id`. Repeat a write only with the same key.',
  invalid_dpop_proof: 'Send a fresh DPoP proof for this request, and the token with the scheme `DPoP`.',
  invalid_request: 'Correct what `field` names. The same request fails again.',
  invalid_signature: 'Sign a new statement with a fresh nonce. Every cause has this one response.',
  invalid_state: 'Another step comes first; `message` names it.',
  key_held:
    'The data of the host was restored, and the key may have been revoked. The operator has to release it.',
  key_not_validated: 'The operator has to validate the partner key first.',
  method_not_allowed: 'Use a method that `Allow` names.',
  not_found: 'The caller has no object with this id. Another account may have it.',
  outcome_unknown:
    'An earlier run of this write was lost. Ask the operator about `operationId`; do not use a new key.',
  payee_not_found:
    'Nobody can be paid at this address. Send the address of a wallet that has signed in here.',
  payload_too_large: 'Send a smaller body: `message` has the limit.',
  policy_blocked:
    'A rule of the key or session forbids it; `rule` names it, with what remains and when it resets.',
  rate_limited: 'Wait for `Retry-After` seconds.',
  request_in_progress:
    'This write, or too many of the account, are still running. Wait for `Retry-After`, then repeat with the same key.',
  service_unavailable: 'A dependency is down. Wait for `Retry-After` and repeat, a write with the same key.',
  session_expired: 'Mint a new session.',
  unauthorized: 'Send a valid credential of the kind that the `WWW-Authenticate` challenge names.',
  unsupported_media_type: 'Send `Content-Type: application/json` in UTF-8, without a `Content-Encoding`.',
  use_dpop_nonce:
    'Repeat the request once with a DPoP proof that has the nonce of the response field `DPoP-Nonce`.',
  wrong_surface: 'The session belongs to the other surface.',
}

/** What each `rule` of a `policy_blocked` means. Links are relative to the folder `docs` of the repository. */
export const ruleMeanings: Readonly<Record<Rule, string>> = {
  // Rules of policies.
  denyOperations: 'The policy denies the operation.',
  allowOperations: 'The policy allows other operations only.',
  notBefore: 'The policy allows calls only from `notBefore` on.',
  notAfter: 'The policy ended at `notAfter`.',
  allowedIps: 'The policy does not allow the client address, or the address is not known.',
  allowCardSecrets: 'The policy forbids operations that show card secrets.',
  denyPayees: 'The policy denies payments to this payee, or the operation names none.',
  payees: 'The policy allows payments to other payees only, or the operation names none.',
  maxAuthAmountCents: 'The amount is over the cap on one operation.',
  dailySpendCapCents: 'The cap of the day on money that moves is used up, or nothing counts it on this host.',
  dailyWithdrawalCapCents: 'The cap of the day on withdrawals is used up, or nothing counts it on this host.',
  approveAboveCents: 'Too many payments of the account wait for an approval already.',
  limits: 'An entry of `limits[]` is used up in its `window`, or nothing counts it on this host.',
  currency: 'The amount is in a currency without a rate, so a money cap cannot be checked.',
  // Rules of keys and sessions.
  key_authority:
    'The caller may not create, change or rotate this key ([who may](keys-and-sessions.md#authority)).',
  max_depth: 'A chain of keys, sessions or policies would be longer than allowed.',
  max_live_keys: 'There are as many live keys as allowed; `limitOf` names the kind of limit.',
  already_rotated: 'The key has been rotated before.',
  key_paused: 'The key, or one above it, is paused. Whoever paused it resumes it.',
  // Rules of the host.
  max_unpaid_addresses: 'The account has too many deposit addresses that were never paid to.',
  max_unpaid_addresses_of_client:
    'The client address has asked for too many deposit addresses that were never paid to.',
  account_locked:
    'The identity check denied or locked the account, or the operator has frozen it. Ask the operator.',
  kyc_required: 'The identity check must be approved first.',
  agreements_required: 'The current agreements must be accepted first.',
  data_key_never_leaves: 'The key that encrypts texts of the account is never returned.',
  cross_origin: 'A web page of another origin must not start the sign-in of a command line.',
  max_contracts: 'The account has as many contracts as allowed.',
  max_bills: 'The account has as many open bills as allowed: pay one first.',
  card_above_caller:
    'A policy binds the calling session and not the card ([who may](cards.md#who-may-reveal-unlock-or-loosen-a-card)). Use the key that made it.',
  approved_key:
    'A person approved a command line for one key with its own rights. The token makes that key and nothing else.',
  max_cards: 'The account has as many cards as allowed. Cancel one.',
  max_folders: 'The account has as many folders as allowed. Delete one.',
  max_deposits: 'The account has too many deposits of the last 7 days without a payment.',
  max_withdrawals: 'The account has too many open withdrawals.',
  max_payins: 'The account has as many open pay-ins as allowed. Pay one, or wait: each ends after 24 hours.',
}
