// Written by `npm run docs:update` from `/openapi.json?for=sdk` of the reference host.
import type { ListOperation, Operation } from '../operation.ts'
import type * as Schemas from './schemas.ts'

/** Create a key by a signed statement. Turns a statement that a wallet has signed into an API key and a session. Needs no other credential. Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`. */
export const authBootstrap: Operation<{ readonly body: Schemas.BootstrapRequest }, Schemas.Bootstrapped> = {
  method: 'POST',
  path: '/user/v1/bootstrap',
  credential: 'none',
}

/** Get a sign-in challenge. The text that a wallet signs to sign in. */
export const authChallenge: Operation<{ readonly body: Schemas.ChallengeRequest }, Schemas.Challenge> = {
  method: 'POST',
  path: '/auth/challenge',
  credential: 'none',
}

/** Sign in with a signed challenge */
export const authLogin: Operation<{ readonly body: Schemas.LoginRequest }, Schemas.SignedIn> = {
  method: 'POST',
  path: '/auth/login',
  credential: 'none',
}

/** Inspect a web token */
export const authSession: Operation<{ readonly body: Schemas.WebTokenRequest }, Schemas.WebTokenState> = {
  method: 'POST',
  path: '/auth/session',
  credential: 'none',
}

/** Open a console session. Exchanges a web token for a session that reads everything and can move no money. Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`. */
export const authOpenConsole: Operation<object, Schemas.ConsoleSession> = {
  method: 'POST',
  path: '/auth/console',
  credential: 'session',
}

/** Start to sign in a command line */
export const authStartCli: Operation<{ readonly body?: Schemas.StartCliRequest }, Schemas.CliRequestStarted> =
  { method: 'POST', path: '/auth/cli/start', credential: 'none' }

/** Poll a sign-in request */
export const authPollCli: Operation<{ readonly body: Schemas.PollCliRequest }, Schemas.CliRequestPolled> = {
  method: 'POST',
  path: '/auth/cli/poll',
  credential: 'none',
}

/** Get a sign-in request */
export const authInspectCli: Operation<{ readonly body: Schemas.InspectCliRequest }, Schemas.CliRequest> = {
  method: 'POST',
  path: '/auth/cli/inspect',
  credential: 'none',
}

/** Deny a command line */
export const authDenyCli: Operation<{ readonly body: Schemas.DenyCliRequest }, Schemas.CliRequestDenied> = {
  method: 'POST',
  path: '/auth/cli/deny',
  credential: 'none',
}

/** Create an API key. Below the calling key, or with a web token one of the wallet. Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`. */
export const keysCreate: Operation<{ readonly body?: Schemas.CreateKeyRequest }, Schemas.NewApiKey> = {
  method: 'POST',
  path: '/user/v1/keys',
  credential: 'session',
}

/** List API keys. Those that the caller may see. */
export const keysList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.ApiKeyList,
  'keys'
> = { method: 'GET', path: '/user/v1/keys', credential: 'session', list: 'keys' }

/** List the caps of a key. With how much of each is used. */
export const keysCaps: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly keyId: string
    }
  },
  Schemas.KeyCaps
> = { method: 'GET', path: '/user/v1/keys/{keyId}/caps', credential: 'session' }

/** Change an API key. Its label, scopes or policy; or revokes it. Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`. */
export const keysChange: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly keyId: string
    }
    readonly body?: Schemas.ChangeKeyRequest
  },
  Schemas.ApiKey
> = { method: 'PATCH', path: '/user/v1/keys/{keyId}', credential: 'session' }

/** Revoke an API key. Ends its sessions. `cards=cancel` also cancels the cards of it and of keys below it. Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`. */
export const keysRevoke: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly keyId: string
    }
    readonly query?: {
      /** Also cancels the cards that it made. Needs the scope `cards.write` */
      readonly cards?: 'cancel'
    }
  },
  Schemas.ApiKey
> = { method: 'DELETE', path: '/user/v1/keys/{keyId}', credential: 'session' }

/** Rotate an API key. Replaces it by a successor; the old one works until the overlap ends. With a web token any key of the wallet. Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`. */
export const keysRotate: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly keyId: string
    }
    readonly body?: Schemas.RotateKeyRequest
  },
  Schemas.NewApiKey
> = { method: 'POST', path: '/user/v1/keys/{keyId}/rotate', credential: 'key-or-session' }

/** Create a session. From a user key, or from a session. Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`. */
export const sessionsCreate: Operation<{ readonly body?: Schemas.CreateSessionRequest }, Schemas.NewSession> =
  { method: 'POST', path: '/user/v1/sessions', credential: 'key-or-session' }

/** List sessions. The live sessions of the keys that the caller may see. */
export const sessionsList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.SessionList,
  'sessions'
> = { method: 'GET', path: '/user/v1/sessions', credential: 'session', list: 'sessions' }

/** End a session. Ends it with the sessions that were created from it. `current` is the calling one. With `keys=revoke` the keys that they made are revoked. Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`. */
export const sessionsEnd: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly sessionId: string
    }
    readonly query?: {
      /** Also revokes the keys that the ended sessions created */
      readonly keys?: 'revoke'
    }
  },
  Schemas.EndedSessions
> = { method: 'DELETE', path: '/user/v1/sessions/{sessionId}', credential: 'session' }

/** Evaluate an access request. Whether a key or this session may do an operation now, and why (AuthZEN). Nothing is counted. */
export const accessEvaluate: Operation<{ readonly body: Schemas.EvaluationRequest }, Schemas.Evaluation> = {
  method: 'POST',
  path: '/access/v1/evaluation',
  credential: 'session',
}

/** List requests. The requests of the account and what was decided about them, newest first. */
export const requestsList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
      /** `refused` are denials, `limited` those of a rate limit, `failed` those of the host */
      readonly outcome?: 'allowed' | 'refused' | 'limited' | 'failed'
      /** Only requests of this operation */
      readonly operation?: string
      /** Only those that this policy rule blocked */
      readonly rule?: string
      /** Only those that this API key caused. For payments by card: the key that made the card, or the first one if that key was rotated */
      readonly keyId?: string
    }
  },
  Schemas.KeptRequestList,
  'requests'
> = { method: 'GET', path: '/user/v1/requests', credential: 'session', list: 'requests' }

/** Get a request. What was decided about it, and what would be decided now. */
export const requestsRead: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly requestId: string
    }
  },
  Schemas.KeptRequestResponse
> = { method: 'GET', path: '/user/v1/requests/{requestId}', credential: 'session' }

/** Create a pay-in. For a subscription, a plan, or into the balance. */
export const subscriptionsPayin: Operation<{ readonly body?: Schemas.PayinRequest }, Schemas.PayinResponse> =
  { method: 'POST', path: '/user/v1/subscriptions/payin', credential: 'session', keyed: true }

/** Submit a transaction. The one that pays a pay-in. */
export const subscriptionsConfirm: Operation<
  { readonly body: Schemas.ConfirmPayinRequest },
  Schemas.PayinResponse
> = { method: 'POST', path: '/user/v1/subscriptions/payin/confirm', credential: 'session', keyed: true }

/** Pay a pay-in from the balance */
export const subscriptionsConfirmBalance: Operation<
  { readonly body: Schemas.PayFromBalanceRequest },
  Schemas.PayinResponse
> = {
  method: 'POST',
  path: '/user/v1/subscriptions/payin/confirm-balance',
  credential: 'session',
  keyed: true,
}

/** Subscribe to a plan. Makes the subscription and its first pay-in. */
export const subscriptionsCheckout: Operation<
  { readonly body: Schemas.CheckoutRequest },
  Schemas.CheckoutResponse
> = { method: 'POST', path: '/user/v1/subscriptions/checkout', credential: 'session', keyed: true }

/** List the subscriptions, newest first */
export const subscriptionsList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.SubscriptionList,
  'subscriptions'
> = { method: 'GET', path: '/user/v1/subscriptions', credential: 'session', list: 'subscriptions' }

/** List the plans */
export const subscriptionsPlans: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.PlanList,
  'plans'
> = { method: 'GET', path: '/user/v1/subscriptions/plans', credential: 'session', list: 'plans' }

/** List the pay-ins, newest first */
export const subscriptionsPayins: ListOperation<
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
      /** Only the pay-in with this id */
      readonly id?: string
      /** Only those that this API key caused. For payments by card: the key that made the card, or the first one if that key was rotated */
      readonly keyId?: string
      /** Only these statuses, with commas between them: awaiting_payment, confirming, settled, expired, failed, canceled */
      readonly status?: readonly (
        | 'awaiting_payment'
        | 'confirming'
        | 'settled'
        | 'expired'
        | 'failed'
        | 'canceled'
      )[]
    }
  },
  Schemas.PayinList,
  'payins'
> = { method: 'GET', path: '/user/v1/subscriptions/payins', credential: 'session', list: 'payins' }

/** Read a pay-in and its history */
export const subscriptionsReadPayin: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly id: string
    }
  },
  Schemas.PayinDetailResponse
> = { method: 'GET', path: '/user/v1/subscriptions/payins/{id}', credential: 'session' }

/** Export pay-ins as CSV. Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`. */
export const subscriptionsExportPayins: Operation<
  {
    readonly query?: {
      /** Only those that were created at this time or later. A date stands for its start in UTC */
      readonly from?: string
      /** Only those that were created before this time. A date stands for its end in UTC */
      readonly to?: string
      /** Only the pay-in with this id */
      readonly id?: string
      /** Only those that this API key caused. For payments by card: the key that made the card, or the first one if that key was rotated */
      readonly keyId?: string
      /** Only these statuses, with commas between them: awaiting_payment, confirming, settled, expired, failed, canceled */
      readonly status?: readonly (
        | 'awaiting_payment'
        | 'confirming'
        | 'settled'
        | 'expired'
        | 'failed'
        | 'canceled'
      )[]
    }
  },
  string
> = { method: 'GET', path: '/user/v1/subscriptions/payins.csv', credential: 'session', text: true }

/** Cancel a subscription. There is no further period. */
export const subscriptionsCancel: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly id: string
    }
  },
  Schemas.SubscriptionResponse
> = { method: 'POST', path: '/user/v1/subscriptions/{id}/cancel', credential: 'session', keyed: true }

/** Settle a pay-in. Pays it with play money, as if its transfer had arrived on a chain. */
export const subscriptionsSimulatePayment: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly payinId: string
    }
    readonly body?: Schemas.SimulatedPayinPayment
  },
  Schemas.PayinResponse
> = { method: 'POST', path: '/user/v1/sandbox/payins/{payinId}/settle', credential: 'session', keyed: true }

/** Read the balance of the account */
export const balancesRead: Operation<object, Schemas.BalanceList> = {
  method: 'GET',
  path: '/user/v1/balances',
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
  Schemas.TransactionList,
  'transactions'
> = { method: 'GET', path: '/user/v1/transactions', credential: 'session', list: 'transactions' }

/** Read a transaction and what happened to it */
export const transactionsRead: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly id: string
    }
  },
  Schemas.TransactionResponse
> = { method: 'GET', path: '/user/v1/transactions/{id}', credential: 'session' }

/** Export transactions as CSV. Refuses a member of the body and a query parameter that it does not know: 400 `invalid_request`, with the name as `field`. */
export const transactionsExport: Operation<
  {
    readonly query?: {
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
  string
> = { method: 'GET', path: '/user/v1/transactions.csv', credential: 'session', text: true }

/** List the contracts, newest first */
export const contractsList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.ContractList,
  'contracts'
> = { method: 'GET', path: '/user/v1/contracts', credential: 'session', list: 'contracts' }

/** Create a contract, to put money aside */
export const contractsCreate: Operation<
  { readonly body?: Schemas.CreateContractRequest },
  Schemas.ContractResponse
> = { method: 'POST', path: '/user/v1/contracts', credential: 'session', keyed: true }

/** Move money to or from savings. Between the balance and contracts. */
export const depositsTransfer: Operation<
  { readonly body: Schemas.TransferRequest },
  Schemas.TransferResponse
> = { method: 'POST', path: '/user/v1/deposits/transfer', credential: 'session', keyed: true }

/** List payments. Sent and received, newest first. */
export const paymentsList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.PaymentList,
  'payments'
> = { method: 'GET', path: '/user/v1/payments', credential: 'session', list: 'payments' }

/** Pay another wallet user of this host */
export const paymentsCreate: Operation<{ readonly body: Schemas.PaymentRequest }, Schemas.PaymentResponse> = {
  method: 'POST',
  path: '/user/v1/payments',
  credential: 'session',
  keyed: true,
}

/** List the bills, newest first */
export const billsList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.BillList,
  'bills'
> = { method: 'GET', path: '/user/v1/bills', credential: 'session', list: 'bills' }

/** Note a bill */
export const billsCreate: Operation<{ readonly body: Schemas.BillRequest }, Schemas.BillResponse> = {
  method: 'POST',
  path: '/user/v1/bills',
  credential: 'session',
  keyed: true,
}

/** Pay a bill from the balance */
export const billsPay: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly billId: string
    }
  },
  Schemas.BillResponse
> = { method: 'POST', path: '/user/v1/bills/{billId}/pay', credential: 'session', keyed: true }

/** List tokens. Those that this host takes or pays. */
export const tokensList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.TokenList,
  'tokens'
> = { method: 'GET', path: '/user/v1/tokens', credential: 'session', list: 'tokens' }

/** List authorizations of a card. Newest first. */
export const cardsAuthorizations: ListOperation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly cardId: string
    }
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.AuthorizationList,
  'authorizations'
> = {
  method: 'GET',
  path: '/user/v1/cards/{cardId}/authorizations',
  credential: 'session',
  list: 'authorizations',
}

/** Simulate a card payment. Pays with a card, as a merchant does. */
export const cardsSimulateAuthorization: Operation<
  { readonly body: Schemas.SimulatedAuthorization },
  Schemas.AuthorizationResponse
> = { method: 'POST', path: '/user/v1/sandbox/authorizations', credential: 'session', keyed: true }

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
> = { method: 'POST', path: '/user/v1/sandbox/authorizations/{id}/clear', credential: 'session', keyed: true }

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
  path: '/user/v1/sandbox/authorizations/{id}/reverse',
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
  path: '/user/v1/sandbox/authorizations/{id}/refund',
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
  Schemas.UserCardList,
  'cards'
> = { method: 'GET', path: '/user/v1/cards', credential: 'session', list: 'cards' }

/** Make a card */
export const cardsCreate: Operation<
  { readonly body?: Schemas.CreateUserCardRequest },
  Schemas.UserCardResponse
> = { method: 'POST', path: '/user/v1/cards', credential: 'session', keyed: true }

/** Read a card */
export const cardsRead: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly cardId: string
    }
  },
  Schemas.UserCardResponse
> = { method: 'GET', path: '/user/v1/cards/{cardId}', credential: 'session' }

/** Change, lock, unlock or cancel a card */
export const cardsChange: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly cardId: string
    }
    readonly body?: Schemas.ChangeUserCardRequest
  },
  Schemas.UserCardResponse
> = { method: 'PATCH', path: '/user/v1/cards/{cardId}', credential: 'session', keyed: true }

/** Get the key for card details. The key that opens what reveals return. */
export const cardsOpenSecrets: Operation<object, Schemas.CardSecretsSessionResponse> = {
  method: 'POST',
  path: '/user/v1/cards/secrets/session',
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
  Schemas.RevealedCardResponse
> = { method: 'POST', path: '/user/v1/cards/{cardId}/secrets', credential: 'session' }

/** Propose a disposable card */
export const cardsPropose: Operation<
  { readonly body: Schemas.ProposeCardRequest },
  Schemas.ProposalResponse
> = { method: 'POST', path: '/user/v1/cards/disposable/proposals', credential: 'session', keyed: true }

/** Make the card of a proposal, once */
export const cardsExecute: Operation<
  { readonly body: Schemas.ExecuteProposalRequest },
  Schemas.ExecutedProposalResponse
> = { method: 'POST', path: '/user/v1/cards/disposable/execute', credential: 'session', keyed: true }

/** Cancel a card, for good */
export const cardsCancel: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly cardId: string
    }
  },
  Schemas.UserCardResponse
> = { method: 'POST', path: '/user/v1/cards/{cardId}/delete-now', credential: 'session', keyed: true }

/** List the folders, oldest first */
export const foldersList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.FolderList,
  'folders'
> = { method: 'GET', path: '/user/v1/folders', credential: 'session', list: 'folders' }

/** Make a folder */
export const foldersCreate: Operation<{ readonly body: Schemas.FolderRequest }, Schemas.FolderResponse> = {
  method: 'POST',
  path: '/user/v1/folders',
  credential: 'session',
  keyed: true,
}

/** Rename a folder */
export const foldersChange: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly folderId: string
    }
    readonly body: Schemas.FolderRequest
  },
  Schemas.FolderResponse
> = { method: 'PATCH', path: '/user/v1/folders/{folderId}', credential: 'session' }

/** Delete a folder; its cards stay */
export const foldersDelete: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly folderId: string
    }
  },
  Schemas.DeletedFolder
> = { method: 'DELETE', path: '/user/v1/folders/{folderId}', credential: 'session' }

/** Create a deposit. Adds play money to the balance at once, or opens a deposit in the named asset. */
export const depositsCreate: Operation<
  { readonly body?: Schemas.SandboxDepositRequest },
  Schemas.SandboxDepositResponse
> = { method: 'POST', path: '/user/v1/deposits', credential: 'session', keyed: true }

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
> = { method: 'GET', path: '/user/v1/deposits', credential: 'session', list: 'deposits' }

/** Read a deposit */
export const depositsRead: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly depositId: string
    }
  },
  Schemas.DepositResponse
> = { method: 'GET', path: '/user/v1/deposits/{depositId}', credential: 'session' }

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
> = { method: 'POST', path: '/user/v1/sandbox/deposits/{depositId}/pay', credential: 'session', keyed: true }

/** Withdraw money */
export const withdrawalsCreate: Operation<
  { readonly body: Schemas.WithdrawalRequest },
  Schemas.WithdrawalResponse
> = { method: 'POST', path: '/user/v1/withdrawals', credential: 'session', keyed: true }

/** List withdrawals, newest first */
export const withdrawalsList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
    }
  },
  Schemas.WithdrawalList,
  'withdrawals'
> = { method: 'GET', path: '/user/v1/withdrawals', credential: 'session', list: 'withdrawals' }

/** Read a withdrawal */
export const withdrawalsRead: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly withdrawalId: string
    }
  },
  Schemas.WithdrawalResponse
> = { method: 'GET', path: '/user/v1/withdrawals/{withdrawalId}', credential: 'session' }

/** Read the user of the session */
export const usersRead: Operation<object, Schemas.WalletUserResponse> = {
  method: 'GET',
  path: '/user/v1/users',
  credential: 'session',
}

/** Change the profile. The name or e-mail address of the user. */
export const usersChange: Operation<
  { readonly body?: Schemas.ChangeUserRequest },
  Schemas.WalletUserResponse
> = { method: 'PATCH', path: '/user/v1/users', credential: 'session' }

/** Inspect a credential. What the credential of this request is and may do. */
export const identityRead: Operation<object, Schemas.IdentityResponse> = {
  method: 'GET',
  path: '/user/v1/identity',
  credential: 'session',
}

/** Change the label of the wallet */
export const identityChange: Operation<
  { readonly body: Schemas.ChangeIdentityRequest },
  Schemas.IdentityResponse
> = { method: 'PATCH', path: '/user/v1/identity', credential: 'session' }

/** Get the data key. Always denied: the data key never leaves the host. */
export const identityDataKey: Operation<object, Schemas.NoDataKey> = {
  method: 'GET',
  path: '/user/v1/identity/data-key',
  credential: 'session',
}

/** Get support contacts. Where to find help, and what to quote there. */
export const supportRead: Operation<object, Schemas.SupportResponse> = {
  method: 'GET',
  path: '/user/v1/support',
  credential: 'session',
}

/** Encrypt texts. With the key of the account. */
export const cryptoEncrypt: Operation<{ readonly body: Schemas.EncryptRequest }, Schemas.EncryptedItems> = {
  method: 'POST',
  path: '/user/v1/crypto/encrypt',
  credential: 'session',
}

/** Decrypt texts. Texts that this account encrypted. */
export const cryptoDecrypt: Operation<{ readonly body: Schemas.DecryptRequest }, Schemas.DecryptedItems> = {
  method: 'POST',
  path: '/user/v1/crypto/decrypt',
  credential: 'session',
}

/** Get the referral code. The code of the account, and how many have applied it. */
export const referralsRead: Operation<object, Schemas.ReferralResponse> = {
  method: 'GET',
  path: '/user/v1/referrals',
  credential: 'session',
}

/** Apply a referral code. The code of another account, once. */
export const referralsApply: Operation<
  { readonly body: Schemas.ApplyReferralRequest },
  Schemas.ReferralResponse
> = { method: 'POST', path: '/user/v1/referrals', credential: 'session' }

/** List what happened, newest first */
export const notificationsList: ListOperation<
  {
    readonly query?: {
      /** Most items of a page */
      readonly limit?: number
      /** `nextCursor` of the page before */
      readonly cursor?: string
      /** `true`: only those that were not read */
      readonly unread?: boolean
    }
  },
  Schemas.NotificationList,
  'notifications'
> = { method: 'GET', path: '/user/v1/notifications', credential: 'session', list: 'notifications' }

/** Mark all notifications as read. The oldest 1000 at a time. */
export const notificationsMarkAll: Operation<
  { readonly body: Schemas.MarkAllNotificationsRequest },
  Schemas.AllReadResponse
> = { method: 'PATCH', path: '/user/v1/notifications', credential: 'session' }

/** Mark a notification as read or unread */
export const notificationsMark: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly notificationId: string
    }
    readonly body: Schemas.MarkNotificationRequest
  },
  Schemas.NotificationResponse
> = { method: 'PATCH', path: '/user/v1/notifications/{notificationId}', credential: 'session' }

/** List the notices that are shown now */
export const spotlightList: Operation<object, Schemas.SpotlightList> = {
  method: 'GET',
  path: '/user/v1/spotlight',
  credential: 'session',
}

/** List fields of an application. With the values that each may have. */
export const kycValues: Operation<object, Schemas.KycValues> = {
  method: 'GET',
  path: '/user/v1/kyc/values',
  credential: 'session',
}

/** Apply for the check of the identity */
export const kycSubmit: Operation<{ readonly body: Schemas.KycRequest }, Schemas.KycResponse> = {
  method: 'POST',
  path: '/user/v1/kyc',
  credential: 'session',
}

/** Read how far the identity check is */
export const kycStatus: Operation<object, Schemas.KycResponse> = {
  method: 'GET',
  path: '/user/v1/kyc/status',
  credential: 'session',
}

/** Decide an identity check. As the provider of identity checks does. */
export const kycSimulate: Operation<{ readonly body: Schemas.KycDecision }, Schemas.KycResponse> = {
  method: 'POST',
  path: '/user/v1/sandbox/kyc',
  credential: 'session',
}

/** Read the agreements */
export const agreementsList: Operation<object, Schemas.AgreementList> = {
  method: 'GET',
  path: '/user/v1/agreements',
  credential: 'session',
}

/** Accept the agreements */
export const agreementsAccept: Operation<{ readonly body: Schemas.AcceptRequest }, Schemas.AgreementList> = {
  method: 'POST',
  path: '/user/v1/agreements',
  credential: 'session',
}

/** Read the steps of the way in */
export const onboardingRead: Operation<object, Schemas.Onboarding> = {
  method: 'GET',
  path: '/user/v1/onboarding',
  credential: 'session',
}

/** Skip an optional step */
export const onboardingSkip: Operation<
  {
    readonly params: {
      /** An id from an earlier response */
      readonly step: string
    }
  },
  Schemas.Onboarding
> = { method: 'POST', path: '/user/v1/onboarding/{step}', credential: 'session' }
