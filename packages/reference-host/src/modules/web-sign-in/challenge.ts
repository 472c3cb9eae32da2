import { createHash, randomBytes } from 'node:crypto'
import type { EpochMs } from '@gatewright/kernel'
import { renderEip4361, REQUEST_RESOURCE } from '@gatewright/signature-verifier'
import type { WalletProof } from '@gatewright/signature-verifier/internal'
import type { Sealer, SpendLimits } from '@gatewright/host/internal'

/** The content of a challenge, which a wallet signs. The client keeps it as an encrypted text. */
interface Challenge {
  /** With its checksum. */
  readonly address: string
  readonly nonce: string
  readonly issuedAt: EpochMs
  readonly expiresAt: EpochMs
  readonly connector: string | null
  readonly chainId: number | null
  readonly walletLabel: string | null
  /** The request of a command line that this sign-in approves, and what the person lowers. */
  readonly cli?: { readonly requestId: string; readonly code: string; readonly lowerTo?: SpendLimits }
}

/** The facts about the host in challenges. */
interface ChallengeHost {
  readonly sealer: Sealer
  readonly serviceName: string
  /** Such as `https://pay.example`. */
  readonly origin: string
}

/** Makes challenges and reads them back. */
export interface ChallengeCodec {
  make(
    wallet: Pick<Challenge, 'address' | 'connector' | 'chainId' | 'walletLabel' | 'cli'>,
    now: EpochMs,
  ): Challenge
  message(challenge: Challenge): string
  seal(challenge: Challenge): string
  /** Decrypts a challenge; undefined unless this host made it for its own domain. */
  open(text: string): Challenge | undefined
  proof(challenge: Challenge, signature: string): WalletProof
}

const PURPOSE = 'challenge'
const LIFETIME_MS = 300_000
const WORST_CASE =
  'Whoever gets this signature can make an API key for your account, and a key can move money.'

/**
 * The request that the signed text binds. Bootstrap also accepts EIP-4361 messages, but denies a text that binds another
 * request. So a signature for a sign-in cannot create a key there.
 */
export const LOGIN_DIGEST: string = createHash('sha256').update('POST /auth/login').digest('hex')

const iso = (at: EpochMs): string => new Date(at).toISOString()

/** Makes the challenges of a host (EIP-4361). */
export function createChallengeCodec({ sealer, serviceName, origin }: ChallengeHost): ChallengeCodec {
  const domain = new URL(origin).host
  // The grammar of EIP-4361 allows no other characters in a statement.
  const service = serviceName.replaceAll(/[^\w.~/?#[\]@!$&'()*+,;= -]/g, '?')
  // The statement names the worst case of a signature: a web token can create a key with every scope.
  const statement = `Sign in to ${service}. ${WORST_CASE}`
  const message = ({ address, nonce, issuedAt, expiresAt, chainId, cli }: Challenge): string =>
    renderEip4361({
      domain,
      address,
      statement,
      uri: origin,
      chainId: String(chainId ?? 1),
      nonce,
      issuedAt: iso(issuedAt),
      expirationTime: iso(expiresAt),
      requestId: cli?.code,
      resources: [REQUEST_RESOURCE + LOGIN_DIGEST],
    })
  return {
    make: (wallet, now) => ({
      ...wallet,
      nonce: randomBytes(16).toString('hex'),
      issuedAt: now,
      expiresAt: now + LIFETIME_MS,
    }),
    message,
    seal: challenge => sealer.seal(PURPOSE, origin, JSON.stringify(challenge)),
    open(text) {
      const opened = sealer.openFromClient(PURPOSE, origin, text)
      return opened === undefined ? undefined : (JSON.parse(opened) as Challenge)
    },
    proof: (challenge, signature) => ({
      template: 'eip4361',
      message: message(challenge),
      signature,
      address: challenge.address,
      nonce: challenge.nonce,
      issuedAt: iso(challenge.issuedAt),
      expiresAt: iso(challenge.expiresAt),
    }),
  }
}
