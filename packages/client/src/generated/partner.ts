// Written by `npm run docs:update` from `/openapi.json?for=sdk` of the reference host.
import type { ListOperation, Operation } from '../operation.ts'
import type * as Schemas from './schemas.ts'

/** Find or create a user of the partner */
export const usersResolve: Operation<{ readonly body?: Schemas.ResolveUserRequest }, Schemas.User> = {
  method: 'POST',
  path: '/partner/v1/users/resolve',
  credential: 'key',
}

/** Create a session for a user. For a user of the partner. Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`. */
export const sessionsCreateForPartner: Operation<
  { readonly body: Schemas.CreatePartnerSessionRequest },
  Schemas.NewPartnerSession
> = { method: 'POST', path: '/partner/v1/sessions', credential: 'key' }

/** Read the balances of the session user */
export const balancesRead: Operation<object, Schemas.PartnerBalancesResponse> = {
  method: 'GET',
  path: '/partner/v1/balances',
  credential: 'session',
}

/** List the transactions, newest first */
export const transactionsList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
      /** Only those that were created at this time or later. A date stands for its start in UTC */
      readonly from?: string
      /** Only those that were created before this time. A date stands for its end in UTC */
      readonly to?: string
      /** Only the transaction with this id, or those of the payment, pay-in, deposit, withdrawal, bill or card authorization with this id */
      readonly id?: string
      /** Only transactions of this card */
      readonly cardId?: string
      /** Only those that this API key caused. For payments by card: the key that made the card, or the first one if that key was rotated */
      readonly keyId?: string
      /** Only these types, with commas between them: spend, collateral, payment, fee */
      readonly type?: readonly ('spend' | 'collateral' | 'payment' | 'fee')[]
      /** Only these statuses, with commas between them: pending, completed, declined, reversed, failed */
      readonly status?: readonly ('pending' | 'completed' | 'declined' | 'reversed' | 'failed')[]
    }
  },
  Schemas.PartnerTransactionList,
  'transactions'
> = { method: 'GET', path: '/partner/v1/transactions', credential: 'session', list: 'transactions' }

/** Simulate a card payment. Pays with a card, as a merchant does. */
export const cardsSimulateAuthorization: Operation<
  { readonly body: Schemas.SimulatedAuthorization },
  Schemas.AuthorizationResponse
> = { method: 'POST', path: '/partner/v1/sandbox/authorizations', credential: 'session', keyed: true }

/** Simulate a clearing. Clears an authorization, as a merchant does. */
export const cardsSimulateClearing: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly id: string
    }
    readonly body?: Schemas.SimulatedAmount
  },
  Schemas.AuthorizationResponse
> = {
  method: 'POST',
  path: '/partner/v1/sandbox/authorizations/{id}/clear',
  credential: 'session',
  keyed: true,
}

/** Simulate a reversal. Reverses an authorization, as a merchant does. */
export const cardsSimulateReversal: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly id: string
    }
    readonly body?: Schemas.SimulatedReversal
  },
  Schemas.AuthorizationResponse
> = {
  method: 'POST',
  path: '/partner/v1/sandbox/authorizations/{id}/reverse',
  credential: 'session',
  keyed: true,
}

/** Simulate a refund. Refunds a cleared authorization, as a merchant does. */
export const cardsSimulateRefund: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly id: string
    }
    readonly body?: Schemas.SimulatedAmount
  },
  Schemas.AuthorizationResponse
> = {
  method: 'POST',
  path: '/partner/v1/sandbox/authorizations/{id}/refund',
  credential: 'session',
  keyed: true,
}

/** List the cards, in the order of issue */
export const cardsList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.CardList,
  'cards'
> = { method: 'GET', path: '/partner/v1/cards', credential: 'session', list: 'cards' }

/** Make a card */
export const cardsCreate: Operation<{ readonly body?: Schemas.CreateCardRequest }, Schemas.Card> = {
  method: 'POST',
  path: '/partner/v1/cards',
  credential: 'session',
  keyed: true,
}

/** Read a card */
export const cardsRead: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly cardId: string
    }
  },
  Schemas.Card
> = { method: 'GET', path: '/partner/v1/cards/{cardId}', credential: 'session' }

/** Change, lock, unlock or cancel a card */
export const cardsChange: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly cardId: string
    }
    readonly body?: Schemas.ChangeCardRequest
  },
  Schemas.Card
> = { method: 'PATCH', path: '/partner/v1/cards/{cardId}', credential: 'session' }

/** Cancel a card, for good */
export const cardsCancel: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly cardId: string
    }
  },
  Schemas.DeletedCard
> = { method: 'DELETE', path: '/partner/v1/cards/{cardId}', credential: 'session' }

/** Get the key for card details. The key that opens what reveals return. */
export const cardsOpenSecrets: Operation<object, Schemas.PartnerCardSecretsSession> = {
  method: 'POST',
  path: '/partner/v1/cards/secrets/session',
  credential: 'session',
}

/** Reveal a card. Its number and security code, encrypted for the caller. */
export const cardsReveal: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly cardId: string
    }
    readonly body: Schemas.RevealCardRequest
  },
  Schemas.PartnerRevealedCard
> = { method: 'POST', path: '/partner/v1/cards/{cardId}/secrets', credential: 'session' }

/** List the assets that can be deposited */
export const depositsAssets: Operation<
  {
    readonly query?: {
      /** Only assets whose ticker or name holds this text */
      readonly q?: string
      /** Most assets */
      readonly limit?: number
    }
  },
  Schemas.AssetList
> = { method: 'GET', path: '/partner/v1/deposits/assets', credential: 'session' }

/** Read the limits of a deposit */
export const depositsRange: Operation<
  { readonly body: Schemas.DepositRangeRequest },
  Schemas.DepositRangeResponse
> = { method: 'POST', path: '/partner/v1/deposits/range', credential: 'session' }

/** Estimate what a deposit credits */
export const depositsEstimate: Operation<
  { readonly body: Schemas.DepositEstimateRequest },
  Schemas.DepositEstimateResponse
> = { method: 'POST', path: '/partner/v1/deposits/estimate', credential: 'session' }

/** Create a deposit. Opens a deposit in the named asset. */
export const depositsCreate: Operation<{ readonly body: Schemas.DepositRequest }, Schemas.DepositResponse> = {
  method: 'POST',
  path: '/partner/v1/deposits',
  credential: 'session',
  keyed: true,
}

/** List deposits, newest first */
export const depositsList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
      /** `active` (default): those that wait for money since less than 7 days */
      readonly scope?: 'active' | 'all'
    }
  },
  Schemas.DepositList,
  'deposits'
> = { method: 'GET', path: '/partner/v1/deposits', credential: 'session', list: 'deposits' }

/** Read a deposit */
export const depositsRead: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly depositId: string
    }
  },
  Schemas.DepositResponse
> = { method: 'GET', path: '/partner/v1/deposits/{depositId}', credential: 'session' }

/** Pay a deposit (sandbox only) */
export const depositsSimulate: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly depositId: string
    }
    readonly body?: Schemas.SimulatedPayment
  },
  Schemas.DepositResponse
> = {
  method: 'POST',
  path: '/partner/v1/sandbox/deposits/{depositId}/pay',
  credential: 'session',
  keyed: true,
}

/** List the assets that can be withdrawn */
export const withdrawalsAssets: Operation<
  {
    readonly query?: {
      /** Only assets whose ticker or name holds this text */
      readonly q?: string
      /** Most assets */
      readonly limit?: number
    }
  },
  Schemas.AssetList
> = { method: 'GET', path: '/partner/v1/withdrawals/assets', credential: 'session' }

/** Read the limits of a withdrawal */
export const withdrawalsRange: Operation<
  { readonly body: Schemas.WithdrawalRangeRequest },
  Schemas.WithdrawalRangeResponse
> = { method: 'POST', path: '/partner/v1/withdrawals/range', credential: 'session' }

/** Estimate what a withdrawal sends */
export const withdrawalsEstimate: Operation<
  { readonly body: Schemas.WithdrawalEstimateRequest },
  Schemas.WithdrawalEstimateResponse
> = { method: 'POST', path: '/partner/v1/withdrawals/estimate', credential: 'session' }

/** Withdraw money */
export const withdrawalsCreate: Operation<
  { readonly body: Schemas.PartnerWithdrawalRequest },
  Schemas.PartnerWithdrawal
> = { method: 'POST', path: '/partner/v1/withdrawals', credential: 'session', keyed: true }

/** Read the user of the session */
export const usersRead: Operation<object, Schemas.PartnerUser> = {
  method: 'GET',
  path: '/partner/v1/users',
  credential: 'session',
}

/** Change the profile. The name or e-mail address of the user. */
export const usersChange: Operation<{ readonly body?: Schemas.ChangeUserRequest }, Schemas.PartnerUser> = {
  method: 'PATCH',
  path: '/partner/v1/users',
  credential: 'session',
}

/** Get the data key. Always denied: the data key never leaves the host. */
export const identityDataKey: Operation<object, Schemas.NoDataKey> = {
  method: 'GET',
  path: '/partner/v1/encryption/data-key',
  credential: 'session',
}

/** Encrypt a text. With the key of the user. */
export const cryptoEncrypt: Operation<
  { readonly body: Schemas.EncryptValueRequest },
  Schemas.EncryptedValue
> = { method: 'POST', path: '/partner/v1/encryption/encrypt', credential: 'session' }

/** Decrypt a text of the user */
export const cryptoDecrypt: Operation<
  { readonly body: Schemas.DecryptValueRequest },
  Schemas.DecryptedValue
> = { method: 'POST', path: '/partner/v1/encryption/decrypt', credential: 'session' }

/** List events of the partner's users, oldest first. Repeat the request with `nextCursor` as `after`; an empty list means that there are no more events now. Events appear within a few seconds and are kept for 30 days. No event is skipped, whatever writes at the same time. */
export const notificationsEvents: Operation<
  {
    readonly query?: {
      /** `nextCursor` of the response before. Without it: from the oldest event that is kept */
      readonly after?: string
      /** Most events of a response */
      readonly limit?: number
    }
  },
  Schemas.PartnerEventList
> = { method: 'GET', path: '/partner/v1/events', credential: 'key' }

/** List fields of an application. With the values that each may have. */
export const kycValues: Operation<object, Schemas.KycValues> = {
  method: 'GET',
  path: '/partner/v1/kyc/values',
  credential: 'session',
}

/** Apply for the check of the identity */
export const kycSubmit: Operation<
  { readonly body: Schemas.PartnerKycRequest },
  Schemas.PartnerKycApplication
> = { method: 'POST', path: '/partner/v1/kyc/applications', credential: 'session' }

/** Read how far the identity check is */
export const kycStatus: Operation<object, Schemas.PartnerKycApplication> = {
  method: 'GET',
  path: '/partner/v1/kyc/status',
  credential: 'session',
}

/** Decide an identity check. As the provider of identity checks does. */
export const kycSimulate: Operation<{ readonly body: Schemas.KycDecision }, Schemas.PartnerKycApplication> = {
  method: 'POST',
  path: '/partner/v1/sandbox/kyc',
  credential: 'session',
}

/** Read the agreements */
export const agreementsList: Operation<object, Schemas.AgreementList> = {
  method: 'GET',
  path: '/partner/v1/agreements',
  credential: 'session',
}

/** Accept the agreements */
export const agreementsAccept: Operation<{ readonly body: Schemas.AcceptRequest }, Schemas.AgreementList> = {
  method: 'POST',
  path: '/partner/v1/agreements',
  credential: 'session',
}
