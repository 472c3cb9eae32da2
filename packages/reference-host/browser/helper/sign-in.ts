import { call, type Problem } from '../shared/api.ts'
import type { LowerTo } from './cli/requested-key.ts'
import { withCurrentChain, type Signer } from './signer.ts'

/** The session of a sign-in, as the host returns it. */
interface SignedInSession {
  readonly sessionId: string
  readonly address: string
  readonly userId: string
  readonly walletLabel: string | null
  readonly expiresAt: string
}

/** A sign-in with its web token, a secret that only this page keeps in memory. */
export interface SignedIn {
  readonly token: string
  readonly session: SignedInSession
}

/** The request of a command line that a sign-in approves, with the code that was typed and what the person lowers. */
export interface ApprovedRequest {
  readonly requestId: string
  readonly code: string
  readonly lowerTo: LowerTo
}

/** The response to a login. It has no token if it approved a command line. */
export interface LoggedIn {
  readonly token?: string
  readonly session: SignedInSession
}

/** Why a login failed. In no case has it had an effect. */
export type SignInFailure =
  /** The request of the command line has ended. */
  | { readonly kind: 'no-request' }
  | { readonly kind: 'expired' }
  | { readonly kind: 'not-accepted'; readonly chainId: number | null; readonly problem: Problem }
  | { readonly kind: 'host'; readonly problem: Problem }

/** The result of one step of a sign-in. */
type Result<T, F> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & F)

/** A text that a wallet is asked to sign. */
export interface Challenge {
  readonly nonce: string
  readonly message: string
  readonly expiresAt: string
  readonly challengeToken: string
}

/** A text to sign, with the account that signs it. */
export interface TextToSign {
  readonly signer: Signer
  readonly challenge: Challenge
}

/** Requests the text to sign, for the current chain of the wallet. */
export async function getChallenge(
  signer: Signer,
  request?: ApprovedRequest,
): Promise<Result<TextToSign, { readonly problem: Problem }>> {
  const current = await withCurrentChain(signer)
  const { address, chainId, wallet } = current
  const body = {
    address,
    connector: wallet.rdns ?? 'injected',
    walletLabel: wallet.name,
    ...(chainId === null ? {} : { chainId }),
    ...request,
  }
  const reply = await call<Challenge>('/auth/challenge', { body })
  return reply.ok
    ? { ok: true, value: { signer: current, challenge: reply.data } }
    : { ok: false, problem: reply.problem }
}

/** Signs in with a signed text. The response has no token where a command line was approved. */
export async function logIn(
  signer: Signer,
  { nonce, expiresAt, challengeToken }: Challenge,
  signature: string,
): Promise<Result<LoggedIn, { readonly failure: SignInFailure }>> {
  const fail = (failure: SignInFailure) => ({ ok: false, failure }) as const
  const body = { address: signer.address, nonce, challengeToken, signature }
  const reply = await call<LoggedIn>('/auth/login', { body })
  if (reply.ok) return { ok: true, value: reply.data }
  const { problem } = reply
  if (problem.code === 'challenge_not_found') return fail({ kind: 'no-request' })
  if (problem.code !== 'invalid_signature') return fail({ kind: 'host', problem })
  return Date.now() >= Date.parse(expiresAt)
    ? fail({ kind: 'expired' })
    : fail({ kind: 'not-accepted', chainId: signer.chainId, problem })
}
