import type { PrivateKeyAccount } from 'viem/accounts'
import { newWallet, type HttpResponse, type TestHost } from '../../harness/host.ts'

type Send = TestHost['send']
type Signer = Pick<PrivateKeyAccount, 'address' | 'signMessage'>

/** Asks for a challenge and lets the wallet sign it: the body of a login. */
export async function signedLogin(
  send: Send,
  wallet: Signer = newWallet(),
  extra: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { body, status } = await send('/auth/challenge', { body: { address: wallet.address, ...extra } })
  if (status !== 200) throw new Error(`challenge returned ${status}: ${JSON.stringify(body)}`)
  const { nonce, challengeToken, message } = body.data
  const signature = await wallet.signMessage({ message: message as string })
  return { address: wallet.address, ...extra, nonce, challengeToken, signature }
}

/** Signs a wallet in. */
export async function signIn(
  send: Send,
  wallet?: Signer,
  extra?: Record<string, unknown>,
): Promise<HttpResponse> {
  return send('/auth/login', { body: await signedLogin(send, wallet, extra) })
}

/** Signs a wallet in and returns its web token. */
export async function webToken(send: Send, wallet?: Signer): Promise<string> {
  return (await signIn(send, wallet)).body['token'] as string
}
