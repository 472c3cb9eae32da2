import { randomUUID } from 'node:crypto'
import {
  bearer,
  bootstrapUser,
  type HttpResponse,
  type TestHost,
  type WalletUser,
} from '../../harness/host.ts'
import { decided } from './repeats.ts'

/** A pay-in as responses hold it. */
export interface WirePayin {
  readonly id: string
  readonly status: string
  readonly subscriptionId: string | null
  readonly plan: string | null
  readonly amountCents: number
  readonly method: string
  readonly payTo?: {
    readonly address: string
    readonly token: string
    readonly units: string
    readonly from: string | null
  }
  readonly txHash: string | null
  readonly createdAt: string
  readonly expiresAt: string
  readonly history?: readonly { from: string | null; to: string; cause: string; detail: string | null }[]
}

/** What a user does with money, over HTTP. */
export interface MoneyUser {
  /**
   * A financial write, by default under a new idempotency key. It is sent again, as `decided` does, while nothing of it was started.
   */
  write(path: string, body: unknown, key?: string): Promise<HttpResponse>
  read(path: string): Promise<HttpResponse>
  fund(amountCents: number): Promise<HttpResponse>
  balance(): Promise<number>
  /** Reads a pay-in with its history. */
  payin(id: string): Promise<WirePayin>
}

/** A user's money operations at a host. */
export function moneyUser(send: TestHost['send'], { token }: Pick<WalletUser, 'token'>): MoneyUser {
  const read = (path: string): Promise<HttpResponse> => send(`/user/v1${path}`, { headers: bearer(token) })
  const write: MoneyUser['write'] = async (path, body, key = randomUUID()) => {
    const request = { body, headers: { ...bearer(token), 'idempotency-key': key } }
    return decided(() => send(`/user/v1${path}`, request))
  }
  return {
    read,
    write,
    fund: amountCents => write('/deposits', { amountCents }),
    async balance() {
      const { body } = await read('/balances')
      return (body.data['balances'] as { availableCents: number }[])[0]?.availableCents as number
    },
    payin: async id => payinOf(await read(`/subscriptions/payins/${id}`)),
  }
}

/** Bootstraps a new wallet whose session lasts a day. */
export async function newMoneyUser(
  send: TestHost['send'],
  now?: number,
  extra: Record<string, unknown> = {},
): Promise<MoneyUser & WalletUser> {
  const user = await bootstrapUser(send, { sessionTtlSeconds: 86_400, ...extra }, now)
  return { ...user, ...moneyUser(send, user) }
}

/** The pay-in of a response; throws on a denial. */
export function payinOf(response: HttpResponse): WirePayin {
  if (response.status !== 200) throw new Error(`${response.status}: ${JSON.stringify(response.body)}`)
  return response.body.data['payin'] as WirePayin
}
