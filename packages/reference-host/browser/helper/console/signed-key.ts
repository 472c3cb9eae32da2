import { call, type CallOptions, type Reply } from '../../shared/api.ts'
import type { SignedIn } from '../sign-in.ts'
import type { ConsoleContext } from './context.ts'

/** The key ends by itself if the page is closed in between. */
const LIFETIME_MS = 300_000

/** Calls an operation of `/user/v1` with the rights of the key, under an idempotency key of its own. */
export type CallWithKey = <T>(
  path: string,
  body: object,
  options?: Pick<CallOptions, 'method'>,
) => Promise<Reply<T>>

/**
 * Does something that a console may not do, such as unlocking a card or adding play money: the wallet signs for a key with the scopes
 * that this needs, `act` is called with its session, and the key is revoked. Then the console is shown again. Resolves after the wallet
 * was asked; `done` is called with the reply, also if the key could not be made.
 */
export function withSignedKey(
  { actions, call: callConsole, show }: ConsoleContext,
  scopes: readonly string[],
  act: (callWithKey: CallWithKey) => Promise<Reply<unknown>>,
  done: (reply: Reply<unknown>) => void,
): Promise<unknown> {
  const run = async ({ token }: SignedIn): Promise<Reply<unknown>> => {
    const expiresAt = new Date(Date.now() + LIFETIME_MS).toISOString()
    const body = { label: 'Signed in the console', scopes, expiresAt }
    const key = await call<{ userApiKey: string; userKeyId: string }>('/identity/user-api-keys', {
      body,
      token,
    })
    if (!key.ok) return key
    const { userApiKey, userKeyId } = key.data
    const headers = { 'x-user-key': userApiKey }
    const session = await call<{ sessionToken: string }>('/user/v1/sessions', { body: {}, headers })
    const reply = session.ok
      ? await act((path, sent, options) =>
          call(`/user/v1${path}`, {
            ...options,
            body: sent,
            token: session.data.sessionToken,
            headers: { 'idempotency-key': crypto.randomUUID() },
          }),
        )
      : session
    await callConsole(`/keys/${userKeyId}`, { method: 'DELETE' })
    return reply
  }
  const next = async (signedIn: SignedIn): Promise<void> => {
    const reply = await run(signedIn)
    show()
    done(reply)
  }
  return actions.signAgain(signedIn => void next(signedIn), show)
}
