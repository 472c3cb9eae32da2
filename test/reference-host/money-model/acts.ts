import { randomUUID } from 'node:crypto'
import { bearer, type HttpResponse } from '../../harness/host.ts'
import type { Random } from '../harness/random.ts'
import { memberOf, withdrawalBody } from '../harness/transfers.ts'
import { decided, event, openSession, read, wasSent, write, wrong, type Act, type Client } from './client.ts'
import { cardActs } from './card-acts.ts'
import {
  count,
  endWithdrawal,
  FEE_CENTS,
  held,
  leastAvailable,
  noteReport,
  policyOf,
  putAside,
} from './model.ts'

const MAGIC = [1_000_001, 1_000_003, 1_000_004]
const MAX_CONTRACTS = 4
const FAR = '2030-01-01'
const NEW_WITHDRAWAL = { status: 'open', paidExcessCents: 0, returnedCents: 0 } as const
const ok = (response: HttpResponse) => ({ response, passed: response.status === 200 })

/** Pays with the key's caps: spends what fits into the balance and the cap. */
async function spend(client: Client, amountCents: number, what: string, ask: () => Promise<HttpResponse>) {
  const fits = (available: { balance: number; spend: number }): boolean =>
    amountCents <= available.balance && amountCents <= available.spend
  const result = await decided(client, `${what} of ${amountCents}`, fits, async () => ok(await ask()))
  if (result.passed) {
    client.model.available -= amountCents
    count(client.model, amountCents)
  }
  return result
}

const moneyActs: Readonly<Record<string, Act>> = {
  async fund(client, random) {
    const amountCents = random.next() < 0.25 ? 2_500_000 : 1 + random.under(20_000)
    const response = await write(client, random, '/deposits', { amountCents }, { root: true })
    if (response.status === 200) client.model.available += amountCents
    else wrong(client, 'play money', response)
  },
  async deposit(client, random) {
    const asset = { currency: 'usdc', network: 'base' }
    const opened = await write(client, random, '/deposits', asset, { root: true })
    if (opened.status !== 200) return wrong(client, 'a deposit', opened)
    const { id } = memberOf(opened, 'deposit')
    const creditedCents = 1 + random.under(5000)
    const payment = { id: randomUUID(), creditedCents }
    // A payment that was credited to another deposit, or is reported late with another amount, is not credited again.
    const old = random.next() < 0.3 ? random.of(client.model.payments) : undefined
    const again = old && { ...old, creditedCents: old.creditedCents + random.under(2) }
    const payments = again ? [again, payment, payment] : [payment]
    const report = { id, status: random.of(['completed', 'failed']), payments }
    const isReported = random.next() < 0.5
    const amount = (creditedCents / 100).toFixed(2)
    const path = `/sandbox/deposits/${id}/pay`
    const paid = isReported
      ? await event(client, random, 'deposit.report', report, 'journal')
      : await write(client, random, path, { amount }, { root: true })
    if (paid.status === 200) client.model.available += creditedCents
    if (paid.status === 200 && isReported) client.model.payments.push(payment)
    if (paid.status !== 200) wrong(client, 'a payment to a deposit', paid)
  },
  async move(client, random) {
    const { model } = client
    const ids = [null, ...model.contracts.keys()]
    if (ids.length <= MAX_CONTRACTS && random.next() < 0.3) {
      const made = await write(client, random, '/contracts', {}, { root: true })
      if (made.status === 200) model.contracts.set(memberOf(made, 'contract').id, 0)
      else if (made.body['rule'] !== 'max_contracts') wrong(client, 'a contract', made)
      return
    }
    const [from, to] = [random.of(ids) as string | null, random.of(ids) as string | null]
    if (from === to) return 'idle'
    const amountCents = 1 + random.under(2000)
    const has = (balance: number): boolean =>
      (from === null ? balance : (model.contracts.get(from) as number)) >= amountCents
    const body = { amountCents, fromContractId: from, toContractId: to }
    const { passed } = await decided(
      client,
      `a move of ${amountCents}`,
      available => has(available.balance),
      async () => ok(await write(client, random, '/deposits/transfer', body, { root: true })),
    )
    if (!passed) return
    for (const [id, cents] of [
      [from, -amountCents],
      [to, amountCents],
    ] as const) {
      if (id === null) model.available += cents
      else model.contracts.set(id, (model.contracts.get(id) as number) + cents)
    }
  },
  async pay(client, random) {
    const receiver = random.of(client.others.filter(other => other !== client)) as Client
    const amountCents = 1 + random.under(2500)
    const body = { to: { walletAddress: receiver.address }, amountCents }
    receiver.model.incoming += amountCents
    const { passed } = await spend(client, amountCents, 'a payment', () =>
      write(client, random, '/payments', body),
    )
    receiver.model.incoming -= amountCents
    if (passed) receiver.model.available += amountCents
  },
  async bill(client, random) {
    const { model } = client
    const known = random.of(model.bills.filter(({ paid }) => !paid))
    if (!known || random.next() < 0.4) {
      const amountCents = 1 + random.under(2500)
      const note = { payee: 'City Power', amountCents, dueAt: FAR }
      const noted = await write(client, random, '/bills', note)
      if (noted.status !== 200) return wrong(client, 'a bill', noted)
      model.bills.push({ id: memberOf(noted, 'bill').id, amountCents, paid: false })
      return
    }
    // Nothing else pays it meanwhile.
    known.paid = true
    const { passed } = await spend(client, known.amountCents, 'a bill', () =>
      write(client, random, `/bills/${known.id}/pay`, {}),
    )
    known.paid = passed
  },
  async withdraw(client, random) {
    const { model } = client
    if (model.withdrawals.filter(({ status }) => status === 'open').length >= 15) return 'idle'
    const available = leastAvailable(model)
    const isRich = Math.min(available.balance, available.spend, available.withdrawal) > 1_000_004
    const magic = random.next() < (isRich ? 0.6 : 0.05) ? random.of(MAGIC) : undefined
    const amountCents = magic ?? 100 + random.under(3000)
    const { response, passed } = await decided(
      client,
      `a withdrawal of ${amountCents}`,
      available => Math.min(available.balance, available.spend, available.withdrawal) >= amountCents,
      async () => ok(await write(client, random, '/withdrawals', withdrawalBody(amountCents))),
    )
    if (!passed) return
    model.available -= amountCents
    count(model, amountCents, true)
    const { id } = memberOf(response, 'withdrawal')
    model.withdrawals.push({ id, amountCents, rejected: magic === MAGIC[0], ...NEW_WITHDRAWAL })
  },
  /** The provider says how a withdrawal ended. */
  async report(client, random) {
    const open = client.model.withdrawals.filter(({ status, rejected }) => status === 'open' && !rejected)
    const known = random.of(open)
    if (!known || ending.has(known) || !wasSent(client, known.id)) return 'idle'
    const status = random.next() < 0.7 ? 'completed' : 'failed'
    // Nothing else ends it meanwhile.
    ending.add(known)
    const paidCents = random.of([null, null, known.amountCents - FEE_CENTS, 1 + random.under(4000)]) as
      | number
      | null
    await reportWithdrawal(client, random, known.id, { status, paidCents })
    ending.delete(known)
    endWithdrawal(client.model, known, status)
    noteReport(known, status, paidCents)
  },
  /** The provider reports a withdrawal again that it has ended: in the same way, or in the other. */
  async contradict(client, random) {
    const known = random.of(client.model.withdrawals.filter(each => each.status !== 'open' && !each.rejected))
    if (!known || ending.has(known)) return 'idle'
    const status = random.next() < 0.5 ? 'completed' : 'failed'
    const paidCents = random.next() < 0.5 ? null : 1 + random.under(4000)
    ending.add(known)
    await reportWithdrawal(client, random, known.id, { status, paidCents })
    ending.delete(known)
    noteReport(known, status, paidCents)
  },
  /** Looks whether the provider has rejected it by now. */
  async look(client, random) {
    const known = random.of(client.model.withdrawals.filter(each => each.rejected && each.status === 'open'))
    if (!known) return 'idle'
    await lookAt(client, known)
  },
  async caps(client, random) {
    if (!client.alone) return 'idle'
    const { model, send, keyId, rootToken } = client
    const { caps } = model
    const { spent, withdrawn } = caps
    const spendCap = random.of([5000, spent + 5000, spent + 50_000, 90_000_000]) as number
    const withdrawalCap = random.of([4000, withdrawn + 4000, withdrawn + 2_500_000]) as number
    const body = { policy: policyOf(spendCap, withdrawalCap) }
    const path = `/user/v1/keys/${keyId}`
    const response = await send(path, { method: 'PATCH', body, headers: bearer(rootToken) })
    if (response.status !== 200) return wrong(client, 'a change of caps', response)
    Object.assign(caps, { spendCap, withdrawalCap })
    await openSession(client)
  },
  async again(client, random) {
    const asked = random.of(client.responses.filter(({ root }) => root))
    if (!asked) return 'idle'
    const headers = { ...bearer(client.rootToken), 'idempotency-key': asked.key }
    const response = await client.send(`/user/v1${asked.path}`, { body: asked.body, headers })
    if (response.status !== 200 || JSON.stringify(response.body.data) !== asked.data)
      wrong(client, `${asked.path} again, after ${asked.data}`, response)
  },
  async balances(client) {
    const { model, alone } = client
    const least = model.available
    const { body } = await read(client, '/balances')
    if (!alone) return
    const [found] = body.data['balances'] as Record<string, number>[]
    const back = model.withdrawals.filter(each => each.rejected && each.status === 'open')
    const maybe = back.reduce((total, each) => total + each.amountCents, 0)
    const { availableCents = 0, pendingCents = 0, contractsCents } = found as Record<string, number>
    const wrongHeld = pendingCents > held(model) || pendingCents < held(model) - maybe
    const most = model.available + model.incoming + maybe
    if (wrongHeld || contractsCents !== putAside(model) || availableCents < least || availableCents > most)
      model.wrong.push(
        `${client.name}: ${JSON.stringify(found)}, must be ${least} to ${most}, ${held(model)} held, ${putAside(model)} aside`,
      )
  },
}

/** Withdrawals that a report is about. */
const ending = new Set<Client['model']['withdrawals'][number]>()

const reportWithdrawal = (
  client: Client,
  random: Random,
  id: string,
  end: { readonly status: 'completed' | 'failed'; readonly paidCents: number | null },
): Promise<HttpResponse> =>
  event(
    client,
    random,
    'withdrawal.report',
    { id, reason: null, txHash: null, relay: null, ...end },
    'journal',
  )

/** Reads a withdrawal that the provider rejects, and notes when it has failed. */
export async function lookAt(client: Client, known: Client['model']['withdrawals'][number]): Promise<void> {
  const response = await read(client, `/withdrawals/${known.id}`)
  const status = memberOf(response, 'withdrawal')['status']
  if (status === 'failed' && known.status === 'open') endWithdrawal(client.model, known, 'failed')
  else if (status !== 'pending' && status !== 'failed') wrong(client, 'a rejected withdrawal', response)
}

const acts: Readonly<Record<string, Act>> = { ...moneyActs, ...cardActs }
const WEIGHTS: Readonly<Record<string, number>> = {
  fund: 5,
  deposit: 3,
  move: 4,
  pay: 5,
  bill: 4,
  withdraw: 5,
  report: 4,
  contradict: 2,
  look: 1,
  caps: 1,
  again: 3,
  balances: 3,
  card: 1,
  authorize: 6,
  network: 4,
  clear: 3,
  reverse: 2,
  refund: 2,
  late: 2,
}
const bag = Object.entries(WEIGHTS).flatMap(([act, weight]) => Array.from({ length: weight }, () => act))

/** Performs one random action and returns its name. */
export async function actOnce(client: Client, random: Random): Promise<string> {
  for (;;) {
    const act = random.of(bag) as string
    if ((await acts[act]?.(client, random)) !== 'idle') return act
  }
}
