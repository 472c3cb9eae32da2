import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { networkEvent } from '../harness/card-payments.ts'
import { bearer, bootstrapUser, type HttpResponse, type TestHost } from '../../harness/host.ts'
import type { Random } from '../harness/random.ts'
import { leastAvailable, mostAvailable, newModel, policyOf, type Model, type Available } from './model.ts'

/** A client in the model: a wallet, and a key below its first one, whose caps bind what leaves. */
export interface Client {
  readonly name: string
  readonly send: TestHost['send']
  readonly model: Model
  readonly address: string
  /** Of the first key, which has no caps. */
  readonly rootToken: string
  readonly keyId: string
  readonly key: string
  /** Of the key below it. A change of the key ends its sessions. */
  token: string
  /** It sends one request at a time, so that the model knows each response. */
  alone: boolean
  readonly responses: { path: string; body: object; key: string; root: boolean; data: string }[]
  readonly others: Client[]
  readonly journal: string
  /** Network ids whose decision came too late: the network takes those payments back. */
  readonly late: string[]
}

/** Does one thing; returns `idle` when there is nothing to act on. */
export type Act = (client: Client, random: Random) => Promise<'idle' | void>

/** Bootstraps a client whose key has these caps. */
export async function newClient(
  about: Pick<Client, 'name' | 'send' | 'alone' | 'others' | 'journal'>,
  caps: readonly [spend: number, withdrawal: number],
): Promise<Client> {
  const { send } = about
  const root = await bootstrapUser(send, { sessionTtlSeconds: 86_400 })
  const body = { policy: policyOf(...caps) }
  const made = await send('/user/v1/keys', { body, headers: bearer(root.token) })
  const { userKeyId: keyId, userApiKey: key } = made.body as unknown as Record<string, string>
  const client = {
    ...about,
    model: newModel(...caps),
    address: root.address,
    rootToken: root.token,
    keyId: keyId as string,
    key: key as string,
    token: '',
    responses: [],
    late: [],
  }
  await openSession(client)
  return client
}

/** Opens a session of the key with the caps. */
export async function openSession(client: Client): Promise<void> {
  const asked = { body: { ttlSeconds: 3600 }, headers: { 'x-user-key': client.key } }
  const opened = await client.send('/user/v1/sessions', asked)
  if (opened.status !== 200) throw new Error(JSON.stringify(opened.body))
  client.token = opened.body['sessionToken'] as string
}

/** Reads as the owner of the wallet. */
export const read = ({ send, rootToken }: Client, path: string): Promise<HttpResponse> =>
  send(`/user/v1${path}`, { headers: bearer(rootToken) })

/** A write of the key with the caps or of the first key, sometimes sent to two hosts at once: under one key both give the same response. */
export async function write(
  client: Client,
  random: Random,
  path: string,
  body: object,
  { root = false }: { readonly root?: boolean } = {},
): Promise<HttpResponse> {
  const { model, responses, send } = client
  const key = randomUUID()
  const copies = random.next() < 0.15 ? 2 : 1
  const headers = { ...bearer(root ? client.rootToken : client.token), 'idempotency-key': key }
  const one = (): Promise<HttpResponse> => send(`/user/v1${path}`, { body, headers })
  const all = await Promise.all(Array.from({ length: copies }, one))
  const passed = all.filter(({ status }) => status === 200)
  const results = new Set(passed.map(response => JSON.stringify(response.body.data)))
  if (results.size > 1) model.wrong.push(`one key got ${[...results].join(' and ')}`)
  const [first = all[0] as HttpResponse] = passed
  if (first.status === 200) responses.push({ path, body, key, root, data: JSON.stringify(first.body.data) })
  return first
}

/** Sends an event of a provider, sometimes twice. */
export async function event(
  client: Client,
  random: Random,
  type: string,
  data: object,
  name: 'sandbox' | 'journal',
): Promise<HttpResponse> {
  const id = randomUUID()
  const one = (): Promise<HttpResponse> => networkEvent(client.send, { type, data }, { id, name })
  const [first] = await Promise.all(random.next() < 0.2 ? [one(), one()] : [one()])
  if (first.status !== 200) wrong(client, `event ${type}`, first)
  return first
}

export function wrong({ model, name }: Client, what: string, { status, body }: HttpResponse): void {
  model.wrong.push(`${name}: ${what}: ${status} ${JSON.stringify(body)}`)
}

/**
 * Compares a decision with the model: `fits` says whether the amount is within what is available. What has come back meanwhile
 * is unknown; between the two amounts either decision is right.
 */
export async function decided(
  client: Client,
  what: string,
  fits: (available: Available) => boolean,
  ask: () => Promise<{ readonly response: HttpResponse; readonly passed: boolean }>,
): Promise<{ readonly response: HttpResponse; readonly passed: boolean }> {
  const { model } = client
  const least = leastAvailable(model)
  const { response, passed } = await ask()
  const most = mostAvailable(model)
  if (client.alone && passed !== fits(passed ? most : least)) {
    wrong(client, `${what}, with ${JSON.stringify({ least, most })}`, response)
  }
  return { response, passed }
}

/** Whether the provider of withdrawals took an id. */
export function wasSent({ journal }: Client, id: string): boolean {
  return sentIds(journal).includes(id)
}

/** The ids that took effect at the provider, each as often as it did. */
export function sentIds(journal: string): readonly string[] {
  const lines = readFileSync(journal, 'utf8').split('\n')
  return lines.filter(line => line.startsWith('send ')).map(line => line.slice('send '.length))
}
